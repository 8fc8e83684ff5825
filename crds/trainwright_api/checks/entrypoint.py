"""The rules of a job with an entrypoint: it runs under Ray Train, and most of the other sections do not act."""

from __future__ import annotations

from collections.abc import Iterator

from trainwright_api.problems import Problem
from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.schema.section import Section

_IDLE: tuple[tuple[str, str], ...] = (
    ("dataset", "dataset"),
    ("dataset_options", "datasetOptions"),
    ("resume_from", "resumeFrom"),
    ("seed", "seed"),
    ("cache", "cache"),
    ("report", "report"),
    ("callbacks", "callbacks"),
    ("backend.cache_dir", "backend.cache_dir"),
    ("backend.cache_credentials", "backend.cache_credentials"),
    ("backend.processor", "backend.processor"),
    ("backend.loader", "backend.loader"),
)
"""The fields that act on a config or its data, and their paths in a file."""


def entrypoint_problems(spec: TrainingJobSpec) -> Iterator[Problem]:
    """Yield the contradictions between an entrypoint and the other fields. Yields nothing for other jobs."""
    if spec.entrypoint is None:
        return
    if spec.task != "train":
        yield Problem("task", f"{spec.task} works on a config; an entrypoint has task train")
    for name, path in _IDLE:
        if _is_given(spec, name):
            yield Problem(path, "does not act with an entrypoint: give the function what it needs in entrypoint.config")
    if spec.backend.type != "ray":
        yield Problem("backend.type", f"an entrypoint runs under Ray Train: set ray, not {spec.backend.type}")
    if _is_given(spec, "backend.trainer.strategy"):
        yield Problem("backend.trainer.strategy", "does not act with an entrypoint: the function chooses its strategy")
    yield from _checkpoint_problems(spec)


def _checkpoint_problems(spec: TrainingJobSpec) -> Iterator[Problem]:
    if _is_given(spec, "checkpoint.every_seconds"):
        yield Problem(
            "checkpoint.everySeconds", "does not act with an entrypoint: the function decides when it reports one"
        )
    if _is_given(spec, "checkpoint.score_order") and score_attribute(spec) is None:
        yield Problem("checkpoint.scoreOrder", "orders by a score: set scoreAttribute to a metric that is reported")


def score_attribute(spec: TrainingJobSpec) -> str | None:
    """Return the reported metric that ranks the checkpoints of an entrypoint. None: the newest ones are kept."""
    return spec.checkpoint.score_attribute if _is_given(spec, "checkpoint.score_attribute") else None


def _is_given(spec: TrainingJobSpec, path: str) -> bool:
    """Return True if the file has the field, and a section with at least one field."""
    value: object = spec
    for name in path.split("."):
        if not isinstance(value, Section) or name not in value.model_fields_set:
            return False
        value = getattr(value, name)
    return value is not None and not (isinstance(value, Section) and not value.model_fields_set)
