"""Searches without Ray: a folder, a clock that the test sets, and trials."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from trainwright_trainer.search.log import SearchLog
from trainwright_trainer.search.objective import Objective
from trainwright_trainer.search.trials import End, Kind, Score, Trial
from trainwright_trainer.storage.local import FolderStorage


class Clock:
    """The time in seconds, which only the test changes."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def storage(tmp_path: Path) -> FolderStorage:
    return FolderStorage(tmp_path / "out")


@pytest.fixture
def log(storage: FolderStorage, clock: Clock) -> Iterator[SearchLog]:
    return SearchLog.begin(storage, {"name": "job", "job": {}}, clock=clock)  # type: ignore[return-value]


@pytest.fixture
def objective() -> Objective:
    return Objective("late", "roc_auc", "validation", maximize=True)


NewTrial = Callable[..., Trial]


@pytest.fixture
def trial() -> NewTrial:
    """A trial with scores: `trial("0001", [0.5, 0.7], "done", rate=0.1)`."""

    def new(
        name: str, scores: Sequence[float] = (), kind: Kind | None = None, line: str = "", **values: object
    ) -> Trial:
        rounds = tuple(
            Score(
                order=10 * int(name) + n,
                round=n,
                epoch=n - 1,
                step=n,
                value=v,
                seconds=float(n),
                at=float(name) + n / 10,
            )
            for n, v in enumerate(scores, 1)
        )
        end = None if kind is None else End(10 * int(name) + 9, kind, float(name) + 0.9, line)
        return Trial(name, values, {}, 10 * int(name), float(name), rounds, end)

    return new
