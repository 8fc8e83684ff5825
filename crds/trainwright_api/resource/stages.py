"""The stages of an attempt: the task, and before it an optional preprocess stage on CPUs, so that GPUs do not wait."""

from __future__ import annotations

PREPROCESS = "preprocess"
"""A task, and also the stage before training."""
HYPEROPT = "hyperopt"
"""The task that searches over the parameters of `config.hyperopt`."""
TRAINING = ("train", "experiment", HYPEROPT)
"""The tasks that train."""
TASKS_OF_A_MODEL = ("evaluate", "predict")
"""The tasks that take a trained model."""


def backend_of_pods(task: str, backend: str) -> str:
    """Return the backend that decides the pods.

    A task of a model runs on workers with backend ray only. Each other task that does not train needs one pod.
    """
    has_workers = task in TRAINING or (task in TASKS_OF_A_MODEL and backend == "ray")
    return backend if has_workers else "local"


def differ(stage: str | None, other: str | None) -> bool:
    """Return True for two different stages of an attempt. A missing or unknown word counts as the task."""
    return (stage == PREPROCESS) != (other == PREPROCESS)


def comes_before(stage: str | None, task: str) -> bool:
    """Return True for the preprocess stage before another task. It fills the cache on CPUs, and ends."""
    return stage == PREPROCESS != task
