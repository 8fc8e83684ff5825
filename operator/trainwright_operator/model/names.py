"""The names and labels of the objects of a job. The same job and attempt always give the same name."""

from __future__ import annotations

import re
from collections.abc import Mapping

from trainwright_api.resource.environment import ATTEMPT_LABEL, UID_LABEL

JOB_UID = UID_LABEL
JOB_NAME = "trainwright.dev/job-name"
ATTEMPT = ATTEMPT_LABEL
STAGE = "trainwright.dev/stage"
RECORD = "trainwright.dev/record"
"""The annotation of a child with the part of the status that must outlive a reset."""
MANAGED_BY = "app.kubernetes.io/managed-by"
MANAGER = "trainwright"

CHILD_LIMIT = 47
"""KubeRay's limit for the name of a RayJob. A RayJob with a longer name is admitted and never runs."""
LABEL_LIMIT = 63
FILE_LIMIT = 255
"""The limit of file systems for each part of a path, and of S3 servers that store objects as files."""


def child_name(job: str, uid: str, attempt: int, stage: str) -> str:
    """Return `<name>-<8 of the uid>-<attempt>-<stage>`, a DNS-1035 label, with the name cut to fit in 47 characters."""
    return _joined(job, f"-{uid[:8]}-{attempt}-{stage}", CHILD_LIMIT)


def common_name(job: str, uid: str) -> str:
    """Return the name of the objects that all attempts share: ConfigMap, Secret, NetworkPolicy, Service."""
    return _joined(job, f"-{uid[:8]}", CHILD_LIMIT)


def run_folder(output: str, namespace: str, job: str, uid: str) -> str:
    """Return `<output>/<namespace>/<name>-<8 of the uid>`.

    All attempts share it. A job that is created again gets a new one. A name that is too long for a folder is cut.
    """
    suffix = f"-{uid[:8]}"
    return f"{output.rstrip('/')}/{namespace}/{job[: FILE_LIMIT - len(suffix)]}{suffix}"


def labels(job: str, uid: str, attempt: int | None = None, stage: str | None = None) -> Mapping[str, str]:
    """Return the labels of every object and pod of a job. The operator finds them by the uid."""
    found = {MANAGED_BY: MANAGER, JOB_UID: uid, JOB_NAME: job[:LABEL_LIMIT].rstrip("-.")}
    if attempt is not None:
        found[ATTEMPT] = str(attempt)
    return found if stage is None else {**found, STAGE: stage}


def _joined(name: str, suffix: str, limit: int) -> str:
    word = re.sub(r"[^a-z0-9-]", "-", name.lower())
    word = word if word[:1].isalpha() else f"j-{word}"
    return word[: limit - len(suffix)].rstrip("-") + suffix
