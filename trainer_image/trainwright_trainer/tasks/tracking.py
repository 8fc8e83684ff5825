"""The listener of a job's MLflow server."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from trainwright_api.config import ModelConfig
from trainwright_trainer.callbacks.events import Listener
from trainwright_trainer.callbacks.run_files import BestEffort
from trainwright_trainer.callbacks.tracker import Tracker
from trainwright_trainer.job.job import Job
from trainwright_trainer.rundir import layout
from trainwright_trainer.rundir.attempt import Attempt
from trainwright_trainer.tasks.tracking_address import tracking_address

_FILES = (layout.REPORT, layout.METRICS, layout.RESOLVED, layout.JOB)


def tracker_of(job: Job, config: ModelConfig, attempt: Attempt, log: Callable[[str], None]) -> list[Listener]:
    """The job's tracker, if it has one. All attempts of a job report to one run of MLflow."""
    section = job.spec.callbacks.mlflow
    if section is None:
        return []
    address = (tracking_address(job), section.experiment_name, job.uid or _uid_of(attempt), job.name)

    def finish() -> tuple[Mapping[str, str], str]:
        return {name: attempt.storage.read(name).decode() for name in _FILES}, str(job.output / "model")

    return [BestEffort(Tracker(address, parameters_of(job, config), finish, log), "mlflow", log, to_the_end=True)]


def parameters_of(job: Job, config: ModelConfig) -> dict[str, Any]:
    """The parameters of a run: `trainer.batch_size`, `combiner.type`, `input.NAME` with type and encoder, and so on."""
    found: dict[str, Any] = {"dataset": job.shown_dataset, "seed": job.spec.seed, "backend": job.spec.backend.type}
    for one in config.input_features:
        found[f"input.{one.name}"] = f"{one.type}, {one.encoder.type}"
    for output in config.output_features:
        found[f"output.{output.name}"] = f"{output.type}, {output.decoder.type}, {output.loss.type}"
    for section in ("combiner", "trainer"):
        found |= _flat(section, getattr(config, section).model_dump(mode="json"))
    return found


def _flat(prefix: str, values: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in values.items():
        found |= _flat(f"{prefix}.{name}", value) if isinstance(value, Mapping) else {f"{prefix}.{name}": value}
    return found


def _uid_of(attempt: Attempt) -> str:
    """A stable identity of a run outside Kubernetes: the digest of its first start.json, which has time and host."""
    return hashlib.sha256(attempt.storage.read(layout.start(attempt.first))).hexdigest()[:32]
