"""The end of workers that a run has started by itself."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from trainwright_trainer.backends import workers
from trainwright_trainer.errors import EnvironmentFailure


@pytest.mark.parametrize(("cause", "why"), [(None, ""), ("no space in /dev/shm", ": no space in /dev/shm")])
def test_the_last_loss_says_its_cause(monkeypatch: pytest.MonkeyPatch, cause: str | None, why: str) -> None:
    started: list[int] = []

    def lost(_world: int, start: Any, restart: int, _stop: object) -> None:
        started.append(restart)
        if cause:
            workers.lost_at(start.end, 1).write_text(cause)

    monkeypatch.setattr(workers, "pickle", SimpleNamespace(dumps=lambda start: start))
    monkeypatch.setattr(workers, "_run", lost)
    job: Any = SimpleNamespace(spec=SimpleNamespace(backend=SimpleNamespace(trainer=SimpleNamespace(max_retries=2))))
    stop: Any = False
    with pytest.raises(EnvironmentFailure) as found:
        workers.on_workers(2, job, stop, quiet=True)
    assert (
        str(found.value) == f"workers were lost, and no retry is left{why}. --resume goes on from the newest checkpoint"
    )
    assert started == [0, 1, 2]
