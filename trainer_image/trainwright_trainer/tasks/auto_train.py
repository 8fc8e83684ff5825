"""A simple search: the suggested job, and the same job with models of other sizes, within a time limit."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from trainwright_api.problems import Mistakes
from trainwright_trainer.callbacks.console import Console
from trainwright_trainer.callbacks.formats import duration, score
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.job.options import Options
from trainwright_trainer.rundir.record import read_run
from trainwright_trainer.storage.location import Place
from trainwright_trainer.storage.registry import storage_of
from trainwright_trainer.tasks.given_data import Data, folder_of, is_in_memory, path_of
from trainwright_trainer.tasks.init import suggested
from trainwright_trainer.tasks.result import Result, TaskSummary
from trainwright_trainer.tasks.run import run

_SUGGESTED = "suggested"
_SIZES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("linear", {"type": "concat"}),
    ("small", {"type": "concat", "num_fc_layers": 1, "output_size": 64, "dropout": 0.1}),
    ("medium", {"type": "concat", "num_fc_layers": 2, "output_size": 128, "dropout": 0.2}),
    ("large", {"type": "concat", "num_fc_layers": 2, "output_size": 256, "dropout": 0.3}),
)


@dataclass(frozen=True)
class Trial:
    """`loss`: the combined validation loss of its best epoch, by which trials are compared."""

    name: str
    job: dict[str, Any]
    result: Result
    loss: float


@dataclass(frozen=True)
class AutoTrainResult:
    """The finished trials, in their order. In a notebook, it shows them and the report of the best one."""

    trials: Sequence[Trial]

    @property
    def best(self) -> Trial:
        """The trial with the least loss."""
        return min(self.trials, key=lambda trial: trial.loss)

    @property
    def lines(self) -> Iterator[str]:
        for trial in self.trials:
            mark = " (best)" if trial is self.best else ""
            took = duration(trial.result.seconds)
            yield f"{trial.name}: validation loss {score(trial.loss)} in {took}{mark}: {trial.result.model}"

    def _repr_html_(self) -> str:
        lines = "".join(f"<li>{escape(line)}</li>" for line in self.lines)
        return f"<ul>{lines}</ul>{self.best.result._repr_html_()}"


def searched(
    dataset: Data,
    target: str,
    time_limit: float,
    output: Place,
    *,
    seed: int | None = None,
    overwrite: bool = False,
    quiet: bool = False,
    clock: Callable[[], float] = time.monotonic,
) -> AutoTrainResult:
    """Train one trial after the other, while there is time. `time_limit` in seconds.

    Raises as a training does, where the first trial fails. The failure of another one is a line.
    """
    if not time_limit > 0:
        raise Mistakes.one("time_limit_s", f"expected seconds above 0, found {time_limit!r}")
    if not overwrite:
        _refuse_runs(output)
    end, console = clock() + time_limit, Console(quiet=quiet)
    job, trials = suggested(dataset, target).job(None if is_in_memory(dataset) else str(dataset)), list[Trial]()
    with path_of(dataset) as place:
        for name, variant in variants(job):
            left = end - clock()
            if trials and left <= 0:
                console.log(f"{name} and larger trials are left out: the time is over")
                break
            options = Options(
                dataset=place,
                output=str(output / name),
                seed=seed,
                overwrite=overwrite,
                folder_of_table=folder_of(dataset),
                time_limit=left / 2,
            )
            text, path = json.dumps(variant), Path(f"{name}.json")
            try:
                result = run("train", path, options, text=text, console=Console(quiet=quiet))
            except (Mistakes, EnvironmentFailure) as error:
                if not trials:
                    raise
                console.log(f"{name} is left out, it failed: {error}")
                continue
            assert not isinstance(result, TaskSummary)
            trials.append(Trial(name, variant, result, loss_of(result)))
    found = AutoTrainResult(trials)
    console.log(*found.lines)
    return found


def _refuse_runs(output: Place) -> None:
    """Raise `Mistakes` if the folder of a trial holds a run, before the table is read."""
    for name in (_SUGGESTED, *(name for name, _ in _SIZES)):
        run = read_run(storage_of(output / name))
        if run is not None:
            anew = "Use overwrite=True to start anew, or another output."
            raise Mistakes.one("", f"{run.storage.location} holds another run ({run}). {anew}")


def variants(job: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The suggested job, then those with a combiner of another size."""
    own = job["config"]["combiner"]
    yield _SUGGESTED, job
    for name, combiner in _SIZES:
        wanted = combiner | {"norm": own["norm"]} if "norm" in own and name != "linear" else combiner
        if wanted != own:
            changed = copy.deepcopy(job)
            changed["config"]["combiner"] = dict(wanted)
            yield name, changed


def loss_of(result: Result) -> float:
    """The combined validation loss of the best epoch; of the training rows if there are no validation rows."""
    best = next(one for one in result.history if one.epoch == result.best_epoch)
    scores = best.scores.get("validation") or best.scores["train"]
    return scores["combined"]["loss"]
