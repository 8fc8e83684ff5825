"""An option that does not act does not exist.

The contract is walked, field by field. For each one, another value either makes a run that somebody can tell from the
run before, or is refused as not built, or is refused as wrong in words that `REFUSED_AS_WRONG` knows. What is left
stands in `NONE_TO_SEE`, with the reason. A field that is new in the contract is a new test here, which fails
until the field acts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import chdir
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch

from trainwright_api.config.defaults import Defaults
from trainwright_api.job import TrainingJobSpec
from trainwright_api.problems import Mistakes
from trainwright_api.shape import shape_of
from trainwright_trainer import built, train

from . import option_data
from .option_paths import Job, in_messages, make, parts_of, put, taken
from .option_runs import checkpoints, in_memory, read, whole
from .option_tables import (
    MATTERS,
    NONE_TO_SEE,
    REFUSED_AS_WRONG,
    RUNNERS,
    VALUES,
    base_job,
    first_fit,
    fits,
    given_values,
    settings_for,
)
from .option_values import other_values, other_words
from .option_walk import Option, Walk

_WORDS = {
    "input_features": built.INPUTS,
    "output_features": built.OUTPUTS,
    "decoder": built.DECODERS,
    "loss": built.LOSSES,
    "combiner": built.COMBINERS,
    "optimizer": built.OPTIMIZERS,
    "split": built.SPLITS,
}
# Sections that are one option here: not built, of the operator, of another backend, or tried in a way of their own.
_CLOSED = (
    *("podTemplate", "credentials", "entrypoint", "config.hyperopt", "config.defaults"),
    *("backend.processor", "backend.trainer", "backend.credentials"),
)


@dataclass(frozen=True)
class Case:
    """An option, and values of which one at least is to make a difference. `name` is its id."""

    name: str
    option: Option
    values: tuple[Any, ...]

    @property
    def path(self) -> str:
        return self.option.path


def is_built(path: str) -> bool:
    """Whether there is something to look for in the section at this path."""
    key, word = parts_of(path)[-1]
    return path not in _CLOSED and (word is None or key not in _WORDS or word in _WORDS[key])


def cases_of(option: Option) -> Iterator[Case]:
    """One case for each word of a field, where its class is tried fully; else one for the field."""
    path, now = option.path, _now(option)
    words = other_words(option.shape, now)
    for word in words if option.fully else ():
        name = f"{path}={word}"
        yield Case(name, option, tuple(given_values(name, name) or [word]))
    given = given_values(path, path)
    values = given if given is not None else other_values(option.shape, now)
    rest = values if option.fully else [*values, *words]
    only_word = option.shape.kind == "choice" and len(option.shape.choice.words) == 1 if option.shape.choice else False
    if rest or not (words or only_word):
        yield Case(path, option, tuple(rest))


def _now(option: Option) -> Any:
    """What the field is in the base job: a word for a section that has a type."""
    if option.path.endswith("].type"):
        return None
    try:
        found = taken(_prepared(option.path, option.path), option.path)
    except (KeyError, StopIteration, TypeError):
        found = option.default
    if isinstance(found, dict):
        return found.get("type", found)
    return getattr(found, "type", found) if option.shape.choice is not None else found


def _prepared(case: str, path: str) -> Job:
    """The job before the change: it has the sections around the option, of the types that the path names."""
    job = base_job(path)
    for place, value in settings_for(case, path):
        put(job, place, value)
    above = path.rpartition(".")[0]
    if above:
        make(job, above)
    return job


ALL = [case for option in Walk(is_built).section(TrainingJobSpec) for case in cases_of(option)]
TRIED = [case for case in ALL if not first_fit(case.name, NONE_TO_SEE)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where all runs find their data, and share one cache: an option that the cache forgets does not act."""
    home = tmp_path_factory.mktemp("options")
    option_data.write(home / "rows.parquet", 0)
    option_data.write(home / "other.parquet", 1)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with chdir(home):
        yield home
    torch.set_num_threads(threads)


class Looks:
    """Runs jobs and remembers what was seen of each."""

    def __init__(self, folder: Path, new_folder: Callable[[str], Path]) -> None:
        self._folder, self._new_folder = folder, new_folder
        self._seen: dict[str, Any] = {}

    def at(self, job: Job, runner: str) -> Any:
        """What a run shows, or the lines of the mistakes that it is refused for."""
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


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in TRIED])
def test_every_option_acts(case: Case, looks: Looks) -> None:
    job = _prepared(case.name, case.path)
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
            return
    assert case.values, f"nobody knows another value of {case.path}: give it one in VALUES"
    assert refused == len(case.values), f"{case.name} does not act: no run differs with {case.values}"


def _check_refusal(case: Case, job: Job, lines: list[str]) -> None:
    """One line that names the option: as not built, or in the words that `REFUSED_AS_WRONG` has."""
    expected = first_fit(case.name, REFUSED_AS_WRONG)
    if expected is not None:
        assert any(REFUSED_AS_WRONG[expected] in line for line in lines), lines
        return
    (line,) = lines
    gap = f"not built yet: {in_messages(job, case.path)}"
    assert line.startswith(gap) if taken(job, case.path) is not None else line == gap, line


def test_nothing_stands_in_a_table_that_is_not_there() -> None:
    """An entry that fits no option any more is a leftover."""
    names = {text for case in ALL for text in (case.name, case.path)}
    for table in (NONE_TO_SEE, REFUSED_AS_WRONG, VALUES, MATTERS, RUNNERS):
        assert [pattern for pattern in table if not any(fits(name, pattern) for name in names)] == []


@pytest.mark.parametrize("pattern", NONE_TO_SEE)
def test_what_nobody_can_see_is_let_through(pattern: str) -> None:
    """Else it would be refused as not built, and need no excuse."""
    excused = [case for case in ALL if fits(case.name, pattern)]
    for case in excused:
        for value in case.values[:1]:
            job = _prepared(case.name, case.path)
            put(job, case.path, value)
            read(job)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (
            "config.input_features[vector].encoder[dense]",
            r"input_features\[0\]\.encoder\.input_size: is 9, the feature has 3",
        ),
        ("config.output_features[binary]", r"output_features\[0\]\.input_size: is 9, the model and the data make it 6"),
        (
            "config.output_features[number].decoder[regressor]",
            r"decoder\.input_size: is 9, the model and the data make it",
        ),
    ],
)
def test_a_wrong_size_is_named(path: str, message: str, folder: Path) -> None:  # noqa: ARG001
    job = base_job(path)
    put(job, f"{path}.input_size", 9)
    with pytest.raises(Mistakes, match=message):
        in_memory(job)


def test_the_runs_of_this_law_are_those_of_the_trainer(folder: Path, tmp_path: Path) -> None:
    """`in_memory` leaves the files out and nothing else."""
    job = base_job("config")
    result = train(job, output=tmp_path / "out", quiet=True)
    seen = in_memory(job)
    assert (result.reason, result.best_epoch) == seen["end"][:2]
    assert result.test["combined"]["loss"] == pytest.approx(json.loads(seen["test"])["combined"]["loss"], rel=1e-3)
    assert folder == Path.cwd()


DEFAULTS = [
    (kind, option)
    for kind in built.INPUTS
    for option in Walk(is_built).section(shape_of(Defaults.model_fields[kind]).section, f"config.defaults.{kind}")
]


@pytest.mark.parametrize(("kind", "option"), [pytest.param(*each, id=each[1].path) for each in DEFAULTS])
def test_a_default_is_as_good_as_a_field(kind: str, option: Option) -> None:
    """Given for all features of a type, a field makes the config that it makes in each of them, or is refused."""
    below = option.path.removeprefix(f"config.defaults.{kind}.")
    features = _with_part(kind, below.partition(".")[0].partition("[")[0])
    case = next(cases_of(replace(option, path=f"{features[0]}.{below}")), None)
    if case is None:  # a section that has one word only
        return
    bare = _both_sides(kind)
    plain = _resolved(_given(bare, features, below, case))
    for value in case.values:
        own = _resolved(_given(bare, features, below, case, value))
        found = _resolved(_given(bare, [f"config.defaults.{kind}"], below, case, value))
        assert isinstance(found, list) == isinstance(own, list)
        if isinstance(found, list):
            assert any(f"config.defaults.{kind}" in line for line in found), found
            return
        assert found == own
        if own != plain:
            return
    pytest.fail(f"no config differs with {case.values}")


def _with_part(kind: str, part: str) -> list[str]:
    """The features of a job with both sides that have a section of this name."""
    outputs = [f"config.output_features[{kind}]"] if part != "encoder" and kind in built.OUTPUTS else []
    inputs = [f"config.input_features[{kind}]"] if part in ("preprocessing", "encoder") else []
    return [*inputs, *outputs]


def _both_sides(kind: str) -> Job:
    """A job that has the type as input and, where it can be one, as output."""
    job = base_job(f"config.input_features[{kind}]")
    if kind in built.OUTPUTS:
        job["config"]["output_features"] = base_job(f"config.output_features[{kind}]")["config"]["output_features"]
    return job


def _given(bare: Job, sections: list[str], below: str, case: Case, *value: Any) -> Job:
    """The job with what matters to the option in each of `sections`, and there the option's own value, if any."""
    job = deepcopy(bare)
    feature = case.path.removesuffix(f".{below}")
    for section in sections:
        for place, setting in settings_for(case.name, case.path):
            if (inside := place.removeprefix(f"{feature}.")).startswith(("preproc", "encoder", "decoder", "loss")):
                put(job, f"{section}.{inside}", setting)
        parent = make(job, f"{section}.{below}".rpartition(".")[0])
        if value:
            parent[below.rpartition(".")[2]] = value[0]
    return job


def _resolved(job: Job) -> Any:
    """The config that a run would train with, or the mistakes that it would be refused for."""
    try:
        config = read(job).config
    except Mistakes as mistakes:
        return [str(problem) for problem in mistakes.problems]
    assert config is not None
    return config.model_dump(mode="json")
