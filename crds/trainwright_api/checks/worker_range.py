"""The rules for a range in `backend.trainer.num_workers`: it needs Ray, and a global batch that does not follow it."""

from __future__ import annotations

from collections.abc import Iterator

from trainwright_api.config import ModelConfig
from trainwright_api.config.losses import ROOTS
from trainwright_api.problems import Problem
from trainwright_api.resource.backend import WorkerRange
from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.resource.stages import HYPEROPT

_PATH = "backend.trainer.num_workers"


def range_problems(spec: TrainingJobSpec) -> Iterator[Problem]:
    """Yield the reasons why a job cannot have a range of workers. A search has rules of its own (`trials.py`)."""
    spec = spec.with_kuberay
    if not isinstance(spec.backend.trainer.num_workers, WorkerRange) or spec.task == HYPEROPT:
        return
    if spec.backend.type != "ray":
        yield Problem(_PATH, f"a range acts with backend ray; {spec.backend.type} needs a number")
    elif spec.config is not None:
        yield from _of_config(spec.config)


def _of_config(config: ModelConfig) -> Iterator[Problem]:
    # Without a section `trainer`, the recipe sets the global batch, from the data alone.
    if "trainer" in config.model_fields_set and config.trainer.effective_batch_size == "auto":
        line = (
            f"auto follows the number of workers, and {_PATH} is a range: give the rows of a global batch as a number"
        )
        yield Problem("config.trainer.effective_batch_size", line)
    for position, feature in enumerate(config.output_features):
        loss = getattr(feature.loss, "type", None)
        if loss in ROOTS:
            line = f"{loss} needs the whole global batch in one pass, which fewer workers may not do"
            line = f"{line}: give {_PATH} a number"
            yield Problem(f"config.output_features[{position}].loss.type", line)
