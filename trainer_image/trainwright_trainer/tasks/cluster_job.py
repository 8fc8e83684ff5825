"""A TrainingJob of a cluster, as its user sees it: its logs, its report, and a switch to stop it.

kubectl finds the cluster and its credentials. The report is read from the run folder that the status names, with the
credentials of this machine.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainwright_api.problems import Mistakes
from trainwright_api.resource.environment import ATTEMPT_LABEL, UID_LABEL
from trainwright_api.resource.kubernetes import DNS_LABEL, DNS_SUBDOMAIN
from trainwright_api.resource.status import ENDS
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.rundir.layout import REPORT, attempt_logs
from trainwright_trainer.storage.registry import storage_at

RESOURCE = "trainingjobs.trainwright.dev"
_KINDS = ("tj", "trainingjob", "trainingjobs", RESOURCE)


@dataclass(frozen=True)
class ClusterJob:
    """A job as the API server returns it."""

    name: str
    where: tuple[str, ...]
    """The flags of kubectl for its namespace."""
    raw: Mapping[str, Any]

    @property
    def title(self) -> str:
        return f"tj/{self.name}"

    @property
    def status(self) -> Mapping[str, Any]:
        return self.raw.get("status") or {}

    @property
    def is_running(self) -> bool:
        return self.status.get("phase") in ("Running", "Stopping")

    @property
    def end(self) -> str:
        """Complete or Failed, "" for a job that has not ended."""
        conditions = self.status.get("conditions") or ()
        return next((one["type"] for one in conditions if one["type"] in ENDS and one["status"] == "True"), "")


def find(job: str, namespace: str | None) -> ClusterJob:
    """Read the job. Raises Mistakes if there is none, EnvironmentFailure if kubectl cannot read it."""
    kind, slash, name = job.partition("/")
    if not slash or kind.lower() not in _KINDS or not re.fullmatch(DNS_SUBDOMAIN, name):
        raise Mistakes.one(job, _no_name(job))
    if namespace is not None and not re.fullmatch(DNS_LABEL, namespace):
        raise Mistakes.one("--namespace", f"expected the name of a namespace, found {namespace!r}")
    where = (f"--namespace={namespace}",) if namespace else ()
    return ClusterJob(name, where, json.loads(_kubectl("get", RESOURCE, name, *where, "--output=json")))


def _no_name(given: str) -> str:
    """The message for what is not tj/NAME: a run of this machine, a name alone, or anything else."""
    page = Path(given, REPORT)
    if os.path.isfile(page):  # `Path.is_file` raises an error for a name that is too long
        return f"expected the name of a TrainingJob; this is a run of this machine, and its report is {page}"
    if re.fullmatch(DNS_SUBDOMAIN, given):
        return f"expected tj/{given}, the name of a TrainingJob"
    return "expected the name of a TrainingJob, as in tj/flights"


def suspend(job: ClusterJob, *, wanted: bool) -> str:
    """Set `spec.suspend`. Return one line. Raises Mistakes for a job that has ended."""
    if job.end:
        raise Mistakes.one(job.title, f"it has ended ({job.end}), and cannot be stopped or resumed")
    patch = json.dumps({"spec": {"suspend": wanted}})
    _kubectl("patch", RESOURCE, job.name, *job.where, "--type=merge", f"--patch={patch}")
    if wanted:
        what = "writes a checkpoint and stops" if job.is_running else "is suspended"
        return f"{job.title} {what}; trainwright resume {job.title} lets it go on"
    return f"{job.title} goes on from its newest checkpoint"


def logs(job: ClusterJob, *, follow: bool) -> str:
    """Print the log of the pods of the newest attempt. If no pod is left, return the one that the run folder keeps.

    Raises Mistakes for a job that has not started.
    """
    attempt = job.status.get("attempt")
    if not attempt:
        raise Mistakes.one(job.title, f"no attempt has started yet: {job.status.get('message') or 'it waits'}")
    selector = f"--selector={UID_LABEL}={job.raw['metadata']['uid']},{ATTEMPT_LABEL}={attempt}"
    pods = _kubectl("get", "pods", *job.where, selector, "--output=name").split()
    if not pods:
        return _kept_log(job, attempt)
    flags = ["--all-containers", "--tail=-1", "--max-log-requests=64", "--ignore-errors"]
    flags += ["--prefix"] if len(pods) > 1 else []
    sys.stdout.flush()
    _kubectl("logs", *job.where, selector, *flags, *(["--follow"] if follow else []), shown=True)
    return ""


def _kept_log(job: ClusterJob, attempt: int) -> str:
    """Return the logs that the run folder keeps of an attempt. If this machine cannot read them, return the end of the
    log from the status, and why."""
    try:
        kept = _logs_of_the_run(job.status.get("output") or "", attempt_logs(attempt))
        why = "the run folder keeps no log of it"
    except (Mistakes, EnvironmentFailure) as error:
        kept, why = "", str(error).partition("\n")[0]
    if kept:
        return kept
    tail = job.status.get("logTail") or job.status.get("message") or ""
    return f"attempt {attempt} has no pods any more, and {why}; this is the end of its log:\n{tail}\n"


def _logs_of_the_run(folder: str, prefix: str) -> str:
    """Return all logs under the prefix, each with its name above it if there are several."""
    if not folder:
        return ""
    storage = storage_at(folder, path="status.output")
    found = {name: storage.read(prefix + name).decode(errors="replace") for name in storage.list(prefix)}
    if len(found) == 1:
        return next(iter(found.values()))
    return "\n".join(f"==> {name} <==\n{text}" for name, text in found.items())


def report(job: ClusterJob, output: str | None) -> str:
    """Copy the report to a file of this machine. Return its path. Raises Mistakes if there is no report yet."""
    folder = job.status.get("output")
    if not folder:
        raise Mistakes.one(job.title, "it has no run folder yet")
    try:
        content = storage_at(folder, path="status.output").read(REPORT)
    except FileNotFoundError:
        raise Mistakes.one(job.title, f"there is no {REPORT} in {folder}, as seen from this machine") from None
    target = Path(output or f"{job.name}-report.html")
    try:
        target.write_bytes(content)
    except OSError as error:
        raise EnvironmentFailure(f"{target} cannot be written: {error.strerror}") from None
    return str(target)


def _kubectl(*words: str, shown: bool = False) -> str:
    """Run kubectl. Return its output, or with `shown` let it print."""
    try:
        ended = subprocess.run(
            ["kubectl", *words], stdin=subprocess.DEVNULL, capture_output=not shown, text=True, check=False
        )
    except OSError as error:
        raise EnvironmentFailure(f"kubectl cannot be run, which finds the cluster: {error.strerror}") from None
    if ended.returncode:
        # What stands above the last line are notes of its library.
        line = ((ended.stderr or "").strip().splitlines() or [f"exit code {ended.returncode}"])[-1]
        if "(NotFound)" in line:
            raise Mistakes.one(f"tj/{words[2]}", line)
        raise EnvironmentFailure(f"kubectl {words[0]}: {line}")
    return ended.stdout or ""
