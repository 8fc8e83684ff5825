"""The progress that the operator gets: after each change, and once a second."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainwright_trainer.search.progress import SearchProgress
from trainwright_trainer.search.words import SearchPlan


@pytest.fixture
def sent():
    return []


@pytest.fixture
def progress(sent, objective, clock):
    plan = SearchPlan("job", objective, ("rate",), 20, None, 2, "random", "fifo")
    return SearchProgress(plan, lambda trial: Path("out/trials") / trial, sent.append, clock=clock)


def test_the_best_ten_come_first_with_their_folders(progress, sent, log):
    for number in range(1, 13):
        log.add({"rate": number / 10}, {})
        log.add_score(f"{number:04d}", round_=1, epoch=0, step=1, value=number / 100, seconds=1.0)
    log.end("0001", "failed", "wrong", mistake=True)
    log.end("0012", "done")
    progress.changed(log)
    (event,) = sent
    assert (event.total, event.finished, event.failed, event.running, event.ended) == (20, 2, 1, 10, False)
    assert len(event.best) == 10
    first = event.best[0]
    assert (first.name, first.score, first.state, first.folder) == ("0012", 0.12, "done", "out/trials/0012")
    assert first.values == "rate 1.2"


def test_a_tick_sends_once_a_second(progress, sent, log, clock):
    progress.tick(log)
    progress.tick(log)
    assert len(sent) == 1
    clock.now = 1.0
    progress.tick(log)
    assert len(sent) == 2


def test_at_the_end_no_trial_runs(progress, sent, log):
    """The time budget has stopped those without an end."""
    log.add({"rate": 0.1}, {})
    log.add_score("0001", round_=1, epoch=0, step=1, value=0.5, seconds=1.0)
    progress.end(log)
    (event,) = sent
    assert (event.finished, event.running, event.ended) == (1, 0, True)
    assert event.best[0].state == "stopped"
