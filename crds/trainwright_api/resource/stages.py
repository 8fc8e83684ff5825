"""What a child of a job does: its task, or before that, where GPUs would wait for data, the preprocessing on CPUs."""

from __future__ import annotations

PREPROCESS = "preprocess"
"""A task of its own, and the phase before training."""
TRAINING = ("train", "experiment")
"""The tasks that train."""


def differ(phase: str | None, other: str | None) -> bool:
    """Whether the words are of two phases of an attempt. One that is missing, or that nobody knows, is of its task."""
    return (phase == PREPROCESS) != (other == PREPROCESS)


def comes_before(phase: str | None, task: str) -> bool:
    """Whether it is the phase before the task's own: it fills the cache, on CPUs, and ends."""
    return phase == PREPROCESS != task
