"""What the file and the command line say together: one job, on this machine, with its places made absolute."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainwright_api import yaml
from trainwright_api.backend import Backend, WorkerRange
from trainwright_api.canonical import canonical, redacted
from trainwright_api.config import ModelConfig, resolve
from trainwright_api.job import TrainingJob, TrainingJobSpec
from trainwright_api.problems import Mistakes
from trainwright_api.validate import Options as Over
from trainwright_trainer.built import refuse_unbuilt
from trainwright_trainer.errors import not_built
from trainwright_trainer.options import Options

TASKS_OF_A_MODEL = ("evaluate", "predict")


@dataclass(frozen=True)
class Job:
    """One run to do. `config` is resolved, and None for the tasks that take a trained model.

    `workers` are those of the file: they decide the global batch, wherever the job runs.
    """

    path: Path
    options: Options
    name: str
    task: str
    resource: TrainingJob
    config: ModelConfig | None
    dataset: str
    output: Path
    model: Path | None
    workers: int
    text: str
    notices: tuple[str, ...]

    @property
    def spec(self) -> TrainingJobSpec:
        return self.resource.spec

    def plain(self) -> dict[str, Any]:
        """The job as plain JSON with its config resolved: what a resumed run must have in common with this one."""
        spec = canonical(self.spec)
        config = None if self.config is None else self.config.model_dump(mode="json")
        return {"spec": {**spec, "config": config, "dataset": self.dataset, "seed": self.spec.seed}}

    def written(self) -> str:
        """The file as it was given; where it holds secrets, the same job without them."""
        hidden = redacted(self.resource)
        return self.text if hidden == canonical(self.resource) else json.dumps(hidden, indent=2) + "\n"

    @property
    def cache_dir(self) -> str | None:
        return self.spec.backend.cache_dir


def read_job(task: str | None, path: Path, options: Options, text: str | None = None) -> Job:
    """Read, check and resolve a file, or the `text` that stands for one. Raises `Mistakes`."""
    text = yaml.text_of(path) if text is None else text
    over = Over(options.dataset, options.backend, task, _model(task, path.stem, text, options), options.seed)
    loaded = yaml.loads(text, path.name, options=over)
    spec, name = loaded.job.spec, loaded.job.metadata.name or path.stem
    refuse_unbuilt(spec)
    return Job(
        path=path,
        options=options,
        name=name,
        task=spec.task,
        resource=loaded.job,
        config=resolve(spec.config) if spec.config else None,
        dataset=spec.dataset or "",
        output=_place(options.output) or _output(spec, name),
        model=Path(spec.model) if spec.model else None,
        workers=_workers(loaded.declared, spec),
        text=loaded.text,
        notices=loaded.notices,
    )


def _model(task: str | None, stem: str, text: str, options: Options) -> str | None:
    """The model to measure: the one that is named, else the one that this very file trains."""
    if task not in TASKS_OF_A_MODEL or options.model is not None:
        return options.model
    try:
        trained = yaml.loads(text, stem, options=Over(dataset=options.dataset or "-")).job
    except Mistakes:
        return None  # a file for a trained model; its own mistakes are told when it is read for good
    return str(_output(trained.spec, trained.metadata.name or stem) / "model")


def _output(spec: TrainingJobSpec, name: str) -> Path:
    """Paths count from the working folder, in the file as on the command line."""
    return Path(spec.output or "out") / name


def _place(output: str | None) -> Path | None:
    if output is not None and "://" in output:
        raise not_built("--output", output, "folders")
    return Path(output) if output else None


def _workers(declared: Backend, spec: TrainingJobSpec) -> int:
    """Of a range the number is not known; where the file fixes the global batch, it does not matter."""
    workers = declared.trainer.num_workers
    fixed = spec.config is not None and spec.config.trainer.effective_batch_size != "auto"
    if isinstance(workers, WorkerRange) and not fixed:
        raise not_built("backend.trainer.num_workers", "as a range", "a number, or a fixed effective_batch_size")
    return workers if isinstance(workers, int) else 1
