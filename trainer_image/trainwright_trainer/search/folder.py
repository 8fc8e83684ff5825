"""The run folder of a search: which search it holds, and what a search writes there at its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from shutil import copyfileobj
from typing import IO, Any

from trainwright_api.problems import Mistakes
from trainwright_trainer.rundir import compatibility, json_text, layout
from trainwright_trainer.rundir.preflight import ExistingRun
from trainwright_trainer.rundir.results import delete_results
from trainwright_trainer.search.log import ABOUT, FOLDER, FORMAT, RUNS, other_process, read_about
from trainwright_trainer.search.objective import Objective
from trainwright_trainer.search.trials import Trial, ended, ranked
from trainwright_trainer.storage.base import COPY_BYTES, Storage

RESULT = "hyperopt.json"
_LAST = "model.json"
_OURS = (RUNS, layout.MODEL, RESULT, layout.REPORT, layout.JOB, FOLDER)
_MAY_CHANGE = "config.hyperopt.executor."
_MOST = ("num_samples", "time_budget_s")


def look(storage: Storage, job: Mapping[str, Any], how: ExistingRun) -> bool:
    """True if the folder holds a search that `job` continues. `job`: the job as plain JSON. Raises `Mistakes`.

    It leaves a search that is to be overwritten as it is: `clear` deletes it when the new one begins.
    """
    about = read_about(storage)
    if about is None:
        if how is ExistingRun.RESUME:
            raise Mistakes.one(
                "", f"{storage.location} holds no search to go on with. Leave --resume out to begin one."
            )
        _refuse_foreign(storage, how)
    elif how is ExistingRun.OVERWRITE:
        _refuse_running(storage, about)
    elif how is ExistingRun.NEW:
        found = "Use --resume to go on with it, --overwrite to start anew, or another --output."
        raise Mistakes.one("", f"{storage.location} holds another search ({about['name']}). {found}")
    else:
        if how is ExistingRun.RESUME:
            _refuse_running(storage, about)
        _refuse_another(storage, about, compatibility.essence(job))
    storage.check_writable()
    return about is not None and how is not ExistingRun.OVERWRITE


def clear(storage: Storage) -> None:
    """Delete the search in the folder, if there is one, with its trials and its model. Raises `Mistakes` if it runs."""
    about = read_about(storage)
    if about is None:
        return
    _refuse_running(storage, about)
    storage.delete(ABOUT)
    for name in _OURS:
        storage.delete_tree(name) if name.endswith("/") else storage.delete(name)
    delete_results(storage)


def about_of(job: Mapping[str, Any], name: str, content: str) -> dict[str, Any]:
    """The content of search.json: the job and the hash of its data, with which a later process compares its own."""
    return {"name": name, "job": compatibility.essence(job), "content": content}


def refuse_other_data(storage: Storage, job: Mapping[str, Any], content: str) -> None:
    """Raise `Mistakes` if a search would continue with other data: the scores of its trials would not compare."""
    about = read_about(storage)
    assert about is not None
    contents = about.get("content"), content
    if problems := compatibility.data_differs(about["job"], compatibility.essence(job), contents):
        raise Mistakes(problems)


def is_done(storage: Storage, executor: Mapping[str, Any]) -> bool:
    """True if the search has ended, and nothing asks for more trials or more time."""
    try:
        before = json_text.parse(storage.read(RESULT))["asked"]
    except FileNotFoundError:
        return False
    return all(executor[name] == before[name] for name in _MOST)


def write_result(
    storage: Storage,
    trials: Sequence[Trial],
    objective: Objective,
    best: Trial,
    model_score: float,
    executor: Mapping[str, Any],
) -> None:
    """Write hyperopt.json: the trials from the best to the worst, and then those without a score.

    `model_score`: the score of the model, which is that of the best trial unless the search had stopped the trial.
    """
    order = ranked(trials, objective)
    rest = [trial for trial in trials if trial not in order]
    body = {
        "format": FORMAT,
        "metric": f"{objective.feature}.{objective.metric}",
        "split": objective.split,
        "goal": "maximize" if objective.maximize else "minimize",
        "ended": ended(trials),
        "best": {**_row(best), "model_score": model_score},
        "trials": [_row(trial) for trial in (*order, *rest)],
        "asked": {name: executor[name] for name in _MOST},
    }
    storage.write(RESULT, [json_text.for_people(body)])


def copy_object(source: Storage, name: str, target: Storage) -> None:
    """Copy an object to the same name. Raises FileNotFoundError if there is none."""
    target.write_by(name, partial(_copy, source, name))


def copy_model(storage: Storage, source: Storage) -> None:
    """Make the model of a trial's run the model of the search. It exists when model.json, the last file, does."""
    names = [name for name in source.list(layout.MODEL) if name != _LAST]
    storage.delete(layout.MODEL + _LAST)
    for name in (*names, _LAST):
        copy_object(source, layout.MODEL + name, storage)


def _copy(source: Storage, name: str, target: IO[bytes]) -> None:
    with source.stream(name) as content:
        copyfileobj(content, target, COPY_BYTES)


def _row(trial: Trial) -> dict[str, Any]:
    more = {} if trial.end is None or not trial.end.line else {"line": trial.end.line}
    if trial.origin is not None:
        more["parent"] = trial.origin.trial
    return {
        "trial": trial.id,
        "folder": f"{RUNS}{trial.id}",
        "score": trial.score,
        "state": trial.state,
        "values": trial.values,
        **more,
    }


def _refuse_foreign(storage: Storage, how: ExistingRun) -> None:
    # In a pod, attempts that ended before they searched have left their outcomes.
    ours = (FOLDER, layout.ATTEMPTS) if how is ExistingRun.CONTINUE else (FOLDER,)
    others = [entry for entry in storage.list() if entry not in ("lost+found/", *ours, *layout.BESIDE)]
    if others:
        shown = ", ".join(others[:3]) + (", …" if len(others) > 3 else "")
        raise Mistakes.one("", f"{storage.location} holds other things ({shown}) and no search. Give another --output.")


def _refuse_running(storage: Storage, about: Mapping[str, Any]) -> None:
    """The process that searches would end, and the trials that it trains would fail."""
    pid = other_process(storage)
    if pid is not None:
        found = f"{about['name']} searches on this machine as process {pid}"
        raise Mistakes.one("", f"{storage.location}: {found}. Stop it first, or give another --output.")


def _refuse_another(storage: Storage, about: Mapping[str, Any], job: Mapping[str, Any]) -> None:
    """A search continues with the same job. The executor may change, but not its scheduler: its rungs are repeated."""
    if about["format"] != FORMAT:
        held = f"{storage.location} holds a search of format {about['format']}, this version reads {FORMAT}"
        raise Mistakes.one("", f"{held}. Use the version that wrote it, or search anew into another --output.")
    problems = [
        problem
        for problem in compatibility.differences(about["job"], job)
        if not problem.path.startswith(_MAY_CHANGE) or problem.path.startswith(f"{_MAY_CHANGE}scheduler")
    ]
    if problems:
        raise Mistakes(problems)
    if compatibility.raised(about["job"], job):
        raise Mistakes.one("config.trainer", "trains longer than the trials of this search did: use another --output")
