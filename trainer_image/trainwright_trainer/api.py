"""The Python API: the tasks of the command line as functions. A call imports torch and Arrow; this module does not."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from trainwright_api.problems import Mistakes
from trainwright_trainer.job.options import Options
from trainwright_trainer.tasks.given_data import is_in_memory, path_of

if TYPE_CHECKING:
    import pyarrow as pa

    from trainwright_trainer.callbacks.events import Scores
    from trainwright_trainer.tasks.given_data import Data
    from trainwright_trainer.tasks.result import Result, TaskSummary

    Job = str | os.PathLike[str] | Mapping[str, Any]


class RunOptions(TypedDict, total=False):
    """Keyword arguments that all tasks share."""

    output: str | Path | None
    """The run folder of `train`; the folder of the results of `evaluate`; the file of `predict`."""
    backend: str | None
    """It has priority over the job's backend."""
    threads: int | None
    """CPU threads of a process; the default follows from the size of a step."""
    quiet: bool
    """Print nothing."""


def train(
    job: Job,
    *,
    dataset: Data | None = None,
    seed: int | None = None,
    resume: bool = False,
    overwrite: bool = False,
    **shared: Unpack[RunOptions],
) -> Result:
    """`trainwright train` from Python. `job` is the path of a file, or its content as a mapping.

    `dataset` replaces the job's: a path or URI, a pandas DataFrame or another Arrow table. The index of a table is
    ignored, and its cache lies in the working folder. Raises `Mistakes` for an error in the job or the data,
    `EnvironmentFailure` for a fault of the machine, `StoppedRun` after a signal, and `AlreadyDone` if nothing is left
    to train.
    """
    from trainwright_trainer.tasks.result import TaskSummary

    result = _run("train", job, dataset, Options(seed=seed, resume=resume, overwrite=overwrite), **shared)
    assert not isinstance(result, TaskSummary)
    return result


def evaluate(
    job: Job | None = None,
    *,
    dataset: Data | None = None,
    model: str | Path | None = None,
    **shared: Unpack[RunOptions],
) -> Scores:
    """`trainwright evaluate` from Python. Returns the scores of a model on the data, by output feature and metric.

    `model`: the folder of a model or of its run; the default is the model that `job` trains. The rest is as in `train`.
    """
    return _summary("evaluate", job, dataset, model, **shared).test


def predict(
    job: Job | None = None,
    *,
    dataset: Data | None = None,
    model: str | Path | None = None,
    **shared: Unpack[RunOptions],
) -> pa.Table:
    """`trainwright predict` from Python. Returns one row for each row of the data, and writes the table to `output`.

    For a DataFrame: `predict(…).to_pandas()`. The rest is as in `evaluate`.
    """
    return _summary("predict", job, dataset, model, **shared).predictions


def _summary(
    task: str, job: Job | None, dataset: Data | None, model: str | Path | None, **shared: Unpack[RunOptions]
) -> TaskSummary:
    from trainwright_trainer.tasks.result import TaskSummary

    result = _run(task, {} if job is None else job, dataset, Options(model=_text(model)), **shared)
    assert isinstance(result, TaskSummary)
    return result


def _run(
    task: str,
    job: Job,
    dataset: Data | None,
    options: Options,
    *,
    output: str | Path | None = None,
    backend: str | None = None,
    threads: int | None = None,
    quiet: bool = False,
) -> Result | TaskSummary:
    from trainwright_trainer.callbacks.console import Console
    from trainwright_trainer.data.cache import FOLDER
    from trainwright_trainer.tasks.run import run

    job, own = _without_table(job)
    given = own if dataset is None else dataset
    path, text = (Path("job.json"), _json(job)) if isinstance(job, Mapping) else (Path(job), None)
    with path_of(given) as place:
        cache = FOLDER if is_in_memory(given) else None
        options = replace(
            options, dataset=place, cache_dir=cache, output=_text(output), backend=backend, threads=threads
        )
        return run(task, path, options, text=text, console=Console(quiet=quiet))


def _without_table(job: Job) -> tuple[Job, Any]:
    """Split a job whose `dataset` is a table into the job without `dataset`, and that table."""
    if not isinstance(job, Mapping):
        if is_in_memory(job):
            raise Mistakes.one("", f"expected a job's file or its keys and values, found a {type(job).__name__}")
        return job, None
    inner = job.get("spec")
    spec = inner if isinstance(inner, Mapping) else job
    table = spec.get("dataset")
    if not is_in_memory(table):
        return job, None
    rest = {key: value for key, value in spec.items() if key != "dataset"}
    return rest if spec is job else {**job, "spec": rest}, table


def _json(job: Mapping[str, Any]) -> str:
    try:
        return json.dumps(job, default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise Mistakes.one("", f"the job holds what no file can hold: {error}") from error


def _plain(value: Any) -> Any:
    """The JSON value of a path, or of a number or array of numpy. Raises `TypeError` for other types."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"an object of type {type(value).__name__}")


def _text(place: str | Path | None) -> str | None:
    return None if place is None else str(place)
