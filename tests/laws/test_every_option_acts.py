"""Every option of the contract acts.

There is a test for each field of the contract. Another value of the field has to change the results of a run, or be
refused as not built, or be refused with a message in `REFUSED_AS_WRONG`. All other fields are in `NONE_TO_SEE`, with
the reason. A new field of the contract is a new test here, which fails until the field acts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import chdir
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import torch

from trainwright_api.problems import Mistakes
from trainwright_api.resource.job import TrainingJobSpec
from trainwright_trainer import train

from . import option_data
from .option_cases import OptionCase, cases_of, is_built
from .option_jobs import base_job, first_fit, fits, job_for
from .option_paths import Job, in_messages, put, taken
from .option_runs import checkpoints, in_memory, read, whole
from .option_tables import MATTERS, NONE_TO_SEE, REFUSED_AS_WRONG, RUNNERS, VALUES
from .option_walk import Walk

ALL = [case for option in Walk(is_built).section(TrainingJobSpec) for case in cases_of(option)]
TRIED = [case for case in ALL if not first_fit(case.name, NONE_TO_SEE)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder with the data and one shared cache of all runs. An option missing from the cache key does not act."""
    home = tmp_path_factory.mktemp("options")
    option_data.write(home / "rows.parquet", 0)
    option_data.write(home / "other.parquet", 1)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with chdir(home):
        yield home
    torch.set_num_threads(threads)


class Looks:
    """Runs jobs, each once, and keeps their results."""

    def __init__(self, folder: Path, new_folder: Callable[[str], Path]) -> None:
        self._folder, self._new_folder = folder, new_folder
        self._seen: dict[str, Any] = {}

    def at(self, job: Job, runner: str) -> Any:
        """The results of a run, or the list of mistakes."""
        key = json.dumps([job, runner])
        if key not in self._seen:
            try:
                self._seen[key] = self._run(job, runner)
            except Mistakes as mistakes:
                self._seen[key] = [str(problem) for problem in mistakes.problems]
        return self._seen[key]

    def _run(self, job: Job, runner: str) -> Any:
        if runner == "in_memory":
            return in_memory(job)
        folder = self._new_folder(runner)
        if runner == "checkpoints":
            return checkpoints(job, folder)
        with chdir(folder):
            return whole(job, folder, self._folder)


@pytest.fixture(scope="module")
def looks(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Looks:
    return Looks(folder, tmp_path_factory.mktemp)


def _marks(case: OptionCase) -> list[pytest.MarkDecorator]:
    """The fields of the encoders of texts and images are so many that they are tested in `make test-all` only."""
    slow = any(fits(case.path, f"config.input_features[{kind}].encoder[*") for kind in ("text", "image"))
    return [pytest.mark.slow] if slow else []


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name, marks=_marks(case)) for case in TRIED])
def test_every_option_acts(case: OptionCase, looks: Looks) -> None:
    job = job_for(case.name, case.path)
    runner = RUNNERS.get(first_fit(case.name, RUNNERS) or "", "in_memory")
    refused = 0
    for value in case.values:
        changed = deepcopy(job)
        put(changed, case.path, value)
        found = looks.at(changed, runner)
        if isinstance(found, list):
            _check_refusal(case, changed, found)
            refused += 1
        elif found != looks.at(job, runner):
            assert first_fit(case.name, REFUSED_AS_WRONG) is None, "it is not refused any more: a leftover"
            return
    assert case.values, f"nobody knows another value of {case.path}: give it one in VALUES"
    assert refused == len(case.values), f"{case.name} does not act: no run differs with {case.values}"


def _check_refusal(case: OptionCase, job: Job, lines: list[str]) -> None:
    """The mistake is one line that names the option as not built, or has the text in `REFUSED_AS_WRONG`."""
    expected = first_fit(case.name, REFUSED_AS_WRONG)
    if expected is not None:
        assert any(REFUSED_AS_WRONG[expected] in line for line in lines), lines
        return
    (line,) = lines
    where, words = in_messages(job, case.path), ": not built yet"
    given = taken(job, case.path)
    assert line.startswith((f"{where}{words}", f"{where}.type{words}")) if given is not None else line == where + words


def test_nothing_stands_in_a_table_that_is_not_there() -> None:
    """Each entry matches an option. An entry that matches none is stale."""
    names = {text for case in ALL for text in (case.name, case.path)}
    for table in (NONE_TO_SEE, REFUSED_AS_WRONG, VALUES, MATTERS, RUNNERS):
        assert [pattern for pattern in table if not any(fits(name, pattern) for name in names)] == []


@pytest.mark.parametrize("pattern", NONE_TO_SEE)
def test_what_nobody_can_see_is_let_through(pattern: str) -> None:
    """A refused option needs no entry in `NONE_TO_SEE`."""
    excused = [case for case in ALL if fits(case.name, pattern)]
    for case in excused:
        for value in case.values[:1]:
            job = job_for(case.name, case.path)
            put(job, case.path, value)
            read(job)


def test_the_runs_of_this_law_are_those_of_the_trainer(folder: Path, tmp_path: Path) -> None:
    """`in_memory` differs from the trainer only in that it writes no files."""
    job = base_job("config")
    result = train(job, output=tmp_path / "out", quiet=True)
    seen = in_memory(job)
    assert (result.reason, result.best_epoch) == seen["end"][:2]
    assert result.test["combined"]["loss"] == pytest.approx(json.loads(seen["test"])["combined"]["loss"], rel=1e-3)
    assert folder == Path.cwd()
