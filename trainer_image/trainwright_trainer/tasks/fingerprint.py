"""The fingerprint of a rank: its job, versions, code and GPU. All ranks compare theirs before the first step."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

from trainwright_api.problems import Mistakes, Problem
from trainwright_trainer.backends.launchers import Launch
from trainwright_trainer.backends.rendezvous import device_of
from trainwright_trainer.errors import Outcome
from trainwright_trainer.job.job import Job
from trainwright_trainer.job.versions import code_digest, versions
from trainwright_trainer.rundir.compatibility import essence


@dataclass(frozen=True)
class Fingerprint:
    """One rank's part of the comparison. All but `host` and `gpu` must be equal.

    `job`: a digest of the job and of the options; None with the outcome of a rank that cannot read the file.
    """

    host: str
    job: str | None
    versions: tuple[tuple[str, str], ...]
    code: str
    gpu: str | None = None
    outcome: Outcome | None = None


def fingerprint_of(job: Job | Exception, launch: Launch) -> Fingerprint:
    host, about = os.uname().nodename, tuple(sorted(versions().items()))
    if isinstance(job, Exception):
        return Fingerprint(host, None, about, code_digest(), outcome=Outcome.traced(job))
    options = replace(job.options, json=False, threads=None)
    whole = {**essence(job.plain()), "options": repr(options), "output": str(job.output), "task": job.task}
    digest = hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()
    return Fingerprint(host, digest, about, code_digest(), _gpu(launch, job))


def compare(fingerprints: Sequence[Fingerprint]) -> None:
    """Raise what keeps the ranks of these fingerprints from training together. Rank 0 comes first."""
    for rank, fingerprint in enumerate(fingerprints):
        if fingerprint.outcome is not None:
            raise _of_rank(rank, fingerprint.outcome)
    first = fingerprints[0]
    for rank, fingerprint in enumerate(fingerprints):
        who = f"rank {rank} ({fingerprint.host})"
        for (name, own), (_, of_first) in zip(fingerprint.versions, first.versions, strict=True):
            if own != of_first:
                raise Mistakes.one(
                    "", f"{who} has {name} {own}, rank 0 ({first.host}) has {of_first}: install one version"
                )
        if fingerprint.code != first.code:
            raise Mistakes.one(
                "", f"{who} and rank 0 ({first.host}) have different code of trainwright: install the same"
            )
        if fingerprint.job != first.job:
            raise Mistakes.one("", f"{who} sees another file, or other options, than rank 0 ({first.host})")
    _refuse_shared_gpus(fingerprints)


def _of_rank(rank: int, outcome: Outcome) -> Exception:
    if outcome.kind != "mistake" or rank == 0:
        return outcome.error()
    return Mistakes([Problem(one.path, f"{one.message} (rank {rank})") for one in outcome.problems])


def _refuse_shared_gpus(fingerprints: Sequence[Fingerprint]) -> None:
    owners: dict[tuple[str, str], int] = {}
    for rank, fingerprint in enumerate(fingerprints):
        if fingerprint.gpu is None:
            continue
        other = owners.setdefault((fingerprint.host, fingerprint.gpu), rank)
        if other != rank:
            found = f"ranks {other} and {rank} would share one GPU of {fingerprint.host}"
            raise Mistakes.one("", f"{found}: start one process for each GPU, or set backend.trainer.use_gpu: false")


def _gpu(launch: Launch, job: Job) -> str | None:
    device = device_of(launch, job.spec.backend.trainer.use_gpu)
    if device.type == "cpu":
        return None
    import torch

    return str(torch.cuda.get_device_properties(device).uuid)
