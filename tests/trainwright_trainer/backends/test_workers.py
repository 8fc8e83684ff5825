"""The end of workers that a run has started by itself."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from trainwright_trainer.backends import workers
from trainwright_trainer.errors import EnvironmentFailure

JOB: Any = SimpleNamespace(spec=SimpleNamespace(backend=SimpleNamespace(trainer=SimpleNamespace(max_retries=2))))


@pytest.fixture(autouse=True)
def plain_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a worker reads stays an object, because no worker is started."""
    monkeypatch.setattr(workers, "pickle", SimpleNamespace(dumps=lambda start: start))


@pytest.mark.parametrize(("cause", "why"), [(None, ""), ("no space in /dev/shm", ": no space in /dev/shm")])
def test_the_last_loss_says_its_cause(monkeypatch: pytest.MonkeyPatch, cause: str | None, why: str) -> None:
    started: list[int] = []

    def lost(_world: int, start: Any, restart: int, _stop: object) -> None:
        started.append(restart)
        if cause:
            last = restart == 2
            workers.lost_at(start.end, rank=int(last)).write_text(cause if last else "an earlier cause")

    monkeypatch.setattr(workers, "_run", lost)
    stop: Any = False
    with pytest.raises(EnvironmentFailure) as found:
        workers.on_workers(2, JOB, stop, quiet=True)
    line = f"workers were lost, and no retry is left{why}. --resume goes on from the newest checkpoint"
    assert str(found.value) == line
    assert started == [0, 1, 2]


def test_a_stop_before_rank_0_has_ended_is_no_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_run", lambda *_: None)
    stop: Any = True
    with pytest.raises(EnvironmentFailure, match="workers were lost"):
        workers.on_workers(2, JOB, stop, quiet=True)
