"""The names and labels of what a job starts. Deterministic: the same job and attempt always give the same name."""

from __future__ import annotations

import re
from collections.abc import Mapping

JOB_UID = "trainwright.dev/job-uid"
JOB_NAME = "trainwright.dev/job-name"
ATTEMPT = "trainwright.dev/attempt"
PHASE = "trainwright.dev/phase"
MANAGED_BY = "app.kubernetes.io/managed-by"
MANAGER = "trainwright"

CHILD_LIMIT = 47
"""KubeRay's limit for the name of a RayJob; a longer one is admitted and never runs."""
LABEL_LIMIT = 63
FILE_LIMIT = 255
"""Of file systems, and of S3 servers that keep objects as files, for each part of a path."""


def child_name(job: str, uid: str, attempt: int, phase: str) -> str:
    """`<name>-<8 of the uid>-<attempt>-<phase>`, a DNS-1035 label of at most 47 characters; the name is cut."""
    return _joined(job, f"-{uid[:8]}-{attempt}-{phase}", CHILD_LIMIT)


def common_name(job: str, uid: str) -> str:
    """The name of what all attempts share: ConfigMap, Secret, NetworkPolicy, Service."""
    return _joined(job, f"-{uid[:8]}", CHILD_LIMIT)


def run_folder(output: str, namespace: str, job: str, uid: str) -> str:
    """`<output>/<namespace>/<name>-<8 of the uid>`: attempts share it, a job that was made anew gets another.

    A name that would be too long for a folder is cut.
    """
    suffix = f"-{uid[:8]}"
    return f"{output.rstrip('/')}/{namespace}/{job[: FILE_LIMIT - len(suffix)]}{suffix}"


def labels(job: str, uid: str, attempt: int | None = None, phase: str | None = None) -> Mapping[str, str]:
    """Of every object and pod of a job. The uid is what they are found by."""
    found = {MANAGED_BY: MANAGER, JOB_UID: uid, JOB_NAME: job[:LABEL_LIMIT].rstrip("-.")}
    if attempt is not None:
        found[ATTEMPT] = str(attempt)
    return found if phase is None else {**found, PHASE: phase}


def _joined(name: str, suffix: str, limit: int) -> str:
    word = re.sub(r"[^a-z0-9-]", "-", name.lower())
    word = word if word[:1].isalpha() else f"j-{word}"
    return word[: limit - len(suffix)].rstrip("-") + suffix
