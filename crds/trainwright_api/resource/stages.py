"""The stages of an attempt: the task, and before it an optional preprocess stage on CPUs, so that GPUs do not wait."""

from __future__ import annotations

PREPROCESS = "preprocess"
"""A task, and also the stage before training."""
HYPEROPT = "hyperopt"
"""The task that searches over the parameters of `config.hyperopt`."""
TRAINING = ("train", "experiment", HYPEROPT)
"""The tasks that train."""


def backend_of_pods(task: str, backend: str) -> str:
    """Return the backend that decides the pods. A task that does not train runs in one process, so it needs one pod."""
    return backend if task in TRAINING else "local"


def differ(stage: str | None, other: str | None) -> bool:
    """Return True for two different stages of an attempt. A missing or unknown word counts as the task."""
    return (stage == PREPROCESS) != (other == PREPROCESS)


def comes_before(stage: str | None, task: str) -> bool:
    """Return True for the preprocess stage before another task. It fills the cache on CPUs, and ends."""
    return stage == PREPROCESS != task
