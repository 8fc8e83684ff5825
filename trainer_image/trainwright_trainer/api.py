"""The Python API: the tasks of the command line as functions. A call imports torch and Arrow; this module does not."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from inspect import signature
from numbers import Integral
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, cast, overload

from trainwright_api.checks import load as checks
from trainwright_api.problems import Mistakes, nearest
from trainwright_api.resource.canonical import canonical
from trainwright_api.resource.job import TrainingJob
from trainwright_trainer.job.argument_names import naming_arguments
from trainwright_trainer.job.options import Options
from trainwright_trainer.runtime.cpus import MOST_THREADS
from trainwright_trainer.tasks.given_data import as_given, folder_of, is_in_memory, names_to_keep, path_of
from trainwright_trainer.tasks.trained_model import TrainedModel, load_trained

if TYPE_CHECKING:
    import pyarrow as pa

    from trainwright_trainer.tasks.auto_train import AutoTrainResult
    from trainwright_trainer.tasks.given_data import Data, Frame
    from trainwright_trainer.tasks.result import Evaluation, Result, TaskSummary

    Job = str | os.PathLike[str] | Mapping[str, Any] | TrainingJob


def init_config(dataset: Data, target: str, *, dataset_options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Suggest a job for a table, as `trainwright init` does: a dictionary for `train`.

    The job of a path names it as its `dataset`; give that of a table to `train` together with the table.
    `dataset_options` is the section `datasetOptions` of the job, which says how files are read. Raises `Mistakes` if
    there is no such column, or if it cannot be predicted.

    >>> job = init_config(customers, target="left")
    >>> [(feature["name"], feature["type"]) for feature in job["config"]["input_features"]]
    [('age', 'number'), ('plan', 'category'), ('joined', 'date')]
    """
    from trainwright_trainer.tasks.init import suggested

    found = suggested(dataset, str(target), dataset_options)
    return found.job(None if is_in_memory(dataset) else os.fspath(cast("str", dataset)))


def auto_train(
    dataset: Data,
    target: str,
    time_limit_s: float,
    *,
    output: str | os.PathLike[str] = "out/auto",
    seed: int | None = None,
    overwrite: bool = False,
    quiet: bool = False,
) -> AutoTrainResult:
    """Train the suggested job and a few of other sizes, and keep the one with the least validation loss.

    Each trial gets at most half of the time that is left, and ends with the epoch in which its time is over: the first
    trial trains at least one epoch. `output` has a run folder for each trial; a search in a folder with runs is refused
    without `overwrite`. Raises as `init_config` and `train` do, where the first trial fails; later ones are left out.

    >>> found = auto_train(customers, "left", time_limit_s=20, quiet=True)
    >>> found.best is found.trials[0] or found.best.loss < found.trials[0].loss
    True
    >>> load(found.best.result.model)
    <model out/auto/...: 3 inputs → left (binary)>
    """
    from trainwright_trainer.storage.location import place_of
    from trainwright_trainer.tasks.auto_train import searched

    place = place_of(os.fspath(output), "output")
    return searched(dataset, str(target), time_limit_s, place, seed=seed, overwrite=overwrite, quiet=quiet)


class RunOptions(TypedDict, total=False):
    """Keyword arguments that all tasks share."""

    output: str | Path | None
    """The run folder of `train`; the folder of the results of `evaluate`; the file of `predict`, if it writes one."""
    backend: str | None
    """It has priority over the job's backend."""
    threads: int | None
    """CPU threads of a process; the default follows from the size of a step."""
    cache_dir: str | Path | None
    """The folder of the cache of preprocessing. It has priority over the job's `backend.cache_dir`."""
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
    """`trainwright train` from Python. `job` is the path of a file, its content as a mapping, or a `TrainingJob`.

    `dataset` replaces the job's: a path or URI, a table of pandas or polars, or another Arrow table. The index of a
    table is ignored, and its cache lies in the working folder. In a notebook, the result shows its report. Raises
    `Mistakes` for an error in the job or the data, `EnvironmentFailure` for a fault of the machine, `StoppedRun` after
    a signal, and `AlreadyDone` if nothing is left to train.

    >>> job = {
    ...     "config": {
    ...         "input_features": [{"name": "age", "type": "number"}, {"name": "plan", "type": "category"}],
    ...         "output_features": [{"name": "left", "type": "binary"}],
    ...     }
    ... }
    >>> result = train(job, dataset=customers, output="out/ages", quiet=True)
    >>> sorted(result.test["left"])
    ['accuracy', 'loss', 'precision', 'recall', 'roc_auc', 'specificity']
    """
    from trainwright_trainer.tasks.result import TaskSummary

    _refuse_entrypoint(job)
    result = _run("train", job, dataset, Options(seed=seed, resume=resume, overwrite=overwrite), shared)
    assert not isinstance(result, TaskSummary)
    return result


def evaluate(
    job: Job | None = None,
    *,
    dataset: Data | None = None,
    model: str | os.PathLike[str] | None = None,
    **shared: Unpack[RunOptions],
) -> Evaluation:
    """`trainwright evaluate` from Python. Returns the scores of a model on the data, by output feature and metric.

    `model`: the folder of a model or of its run; the default is the model of the run in `output`, if there is one, else
    that of `job`. On the data that it was trained on, only the test rows count. The rest is as in `train`.

    >>> found = evaluate("churn.yaml", output="out/evaluated", quiet=True)
    >>> found.part, found["left"]["roc_auc"] > 0.6
    ('test', True)
    """
    found = _summary("evaluate", job, dataset, Options(model=_text(model)), shared).evaluation
    assert found is not None
    return found


@overload
def predict(
    job: Job | None = None,
    *,
    dataset: Frame,
    model: str | os.PathLike[str] | None = None,
    keep: Sequence[str] = (),
    top_k: int | None = None,
    **shared: Unpack[RunOptions],
) -> Frame: ...


@overload
def predict(
    job: Job | None = None,
    *,
    dataset: str | os.PathLike[str] | None = None,
    model: str | os.PathLike[str] | None = None,
    keep: Sequence[str] = (),
    top_k: int | None = None,
    **shared: Unpack[RunOptions],
) -> pa.Table: ...


def predict(
    job: Job | None = None,
    *,
    dataset: Data | None = None,
    model: str | os.PathLike[str] | None = None,
    keep: Sequence[str] = (),
    top_k: int | None = None,
    **shared: Unpack[RunOptions],
) -> Any:
    """`trainwright predict` from Python. Returns one row for each row of the data.

    They are also written to `output`, if that is given. The rows are a table of the kind of `dataset` (pandas, polars),
    and of Arrow for a path. `keep`: columns of the data to have beside the predictions and the targets; `["all"]` for
    all. `top_k`: so many likeliest classes of a category, in place of a column for each class. The rest is as in
    `evaluate`.

    >>> predict("churn.yaml", dataset="new.csv", output="predictions.csv", keep=["name"], quiet=True).num_rows
    3
    """
    options = Options(model=_text(model), keep=names_to_keep(keep), top_k=top_k, returns_rows=True)
    job, own = _without_table({} if job is None else job)
    given = own if dataset is None else dataset
    found = _summary("predict", job, given, options, shared).predictions
    assert found is not None
    return as_given(given, found)


def load(model: str | os.PathLike[str]) -> TrainedModel:
    """Read a trained model from its folder or the folder of its run, here or in a store. It works on tables in memory.

    Raises `Mistakes` if there is no model, or it is damaged, and `EnvironmentFailure` if it cannot be read.

    >>> load("out/churn")
    <model out/churn: 3 inputs → left (binary)>
    """
    return load_trained(model)


def validate(job: Job, *, dataset: Data | None = None, backend: str | None = None) -> tuple[str, ...]:
    """Check a job and the columns of its data, as `trainwright validate` does. Returns the notices.

    `dataset` is as in `train`. Raises `Mistakes` with all errors.

    >>> validate("churn.yaml")
    ()
    >>> validate("churn.yaml", dataset="customer.csv")
    Traceback (most recent call last):
    trainwright_api.problems.Mistakes: dataset: 'customer.csv' does not exist. Nearest: 'customers.csv'.
    """
    from trainwright_trainer.tasks.validate import validated

    job, own = _without_table(job)
    path, text = _file(job)
    with path_of(own if dataset is None else dataset) as place:
        return validated(path, checks.Options(dataset=place, backend=backend), text)


def _summary(task: str, job: Job | None, dataset: Data | None, options: Options, shared: RunOptions) -> TaskSummary:
    from trainwright_trainer.tasks.result import TaskSummary

    result = _run(task, {} if job is None else job, dataset, options, shared)
    assert isinstance(result, TaskSummary)
    return result


def _run(task: str, job: Job, dataset: Data | None, options: Options, shared: RunOptions) -> Result | TaskSummary:
    from trainwright_trainer.callbacks.console import Console
    from trainwright_trainer.tasks.run import run

    _refuse_unknown(task, shared)
    _refuse_threads(shared.get("threads"))
    output = shared.get("output")
    job, own = _without_table(job)
    given = own if dataset is None else dataset
    path, text = _file(job, _name(output) if task == "train" else "")
    with naming_arguments(), path_of(given) as place:
        options = replace(
            options,
            dataset=place,
            cache_dir=_text(shared.get("cache_dir")),
            folder_of_table=folder_of(given),
            output=_text(output),
            backend=shared.get("backend"),
            threads=shared.get("threads"),
        )
        return run(task, path, options, text=text, console=Console(quiet=shared.get("quiet", False)))


def _refuse_unknown(task: str, shared: Mapping[str, Any]) -> None:
    """Raise the TypeError of Python for a keyword argument that the function of `task` does not have."""
    known = RunOptions.__annotations__
    for name in shared:
        if name not in known:
            near = nearest(name, [*known, *signature(globals()[task]).parameters])
            hint = f". Did you mean {near!r}?" if near else ""
            raise TypeError(f"{task}() got an unexpected keyword argument {name!r}{hint}")


def _refuse_threads(threads: int | None) -> None:
    """Raise `Mistakes` for what is no number of threads."""
    if threads is not None and (not isinstance(threads, Integral) or not 1 <= threads <= MOST_THREADS):
        raise Mistakes.one("threads", f"expected a whole number from 1 to {MOST_THREADS}, found {threads!r}")


def _refuse_entrypoint(job: Job) -> None:
    """Raise `Mistakes` for a job with a train function of its own, which has no model to return."""
    path, text = _file(_without_table(job)[0])
    found = checks.inspected(checks.text_of(path) if text is None else text, path.name)
    if found.spec.get("entrypoint") is not None:
        raise Mistakes.one("entrypoint", f"has no model for trainwright.train: run trainwright train {path}")


def _without_table(job: Job) -> tuple[Job, Any]:
    """Split a job whose `dataset` is a table into the job without `dataset`, and that table."""
    if not isinstance(job, Mapping):
        return job, None
    inner = job.get("spec")
    spec = inner if isinstance(inner, Mapping) else job
    table = spec.get("dataset")
    if not is_in_memory(table):
        return job, None
    rest = {key: value for key, value in spec.items() if key != "dataset"}
    return rest if spec is job else {**job, "spec": rest}, table


def _name(output: str | Path | None) -> str:
    """The name of a run folder, or "" without one."""
    return "" if output is None else PurePath(str(output)).name


def _file(job: Job, name: str = "") -> tuple[Path, str | None]:
    """The path of the job's file, and None; or a name for messages, and the text of a job that is in no file.

    `name`: that of a job without one, which is in no file.
    """
    if isinstance(job, TrainingJob):
        return Path("job.json"), json.dumps(canonical(job))
    if isinstance(job, Mapping):
        return Path(f"{name or 'job'}.json"), _json(job)
    if is_in_memory(job):
        raise Mistakes.one("", f"expected a job's file or its keys and values, found a {type(job).__name__}")
    return Path(job), None


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


def _text(place: str | os.PathLike[str] | None) -> str | None:
    return None if place is None else str(place)
