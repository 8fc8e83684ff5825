"""A tracker: the messages of a run, to a process that never holds up training."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from trainwright_trainer.callbacks import tracker as module
from trainwright_trainer.callbacks.events import Ended, Evaluated, Started
from trainwright_trainer.callbacks.tracker import Tracker

STARTED = Started("a", 10, {"train": 8}, 1, {"y": "number"}, "", False, 4, "adam", 0.1, 2, 2, 1, "y.loss", 3)
ENDED = Ended(1.0, 1, 4, {"y": {"loss": 0.5}}, "epochs")
RECORD = "import sys; open(sys.argv[1], 'w').write(sys.stdin.read()); print('a line')"


def round_of(step: int) -> Evaluated:
    return Evaluated(0, step, 1.0, 10.0, 0.1, {"train": {"y": {"loss": 1.0 / step, "r2": float("nan")}}}, True)


def tracker_of(lines: list[str], *command: str) -> Tracker:
    address = ("http://a", "experiment", "uid", "name")
    return Tracker(address, {"a": Path("b")}, lambda: ({"a.txt": "x"}, "m"), lines.append, (sys.executable, *command))


def test_the_messages_follow_the_events_in_order(tmp_path: Path) -> None:
    lines = list[str]()
    tracker = tracker_of(lines, "-c", RECORD, str(tmp_path / "messages"))
    for event in (STARTED, round_of(2), ENDED):
        tracker.on_event(event)
    tracker.close()
    messages = [json.loads(line) for line in (tmp_path / "messages").read_text().splitlines()]
    times = [message.pop() for message in messages if message[0] == "log"]
    assert min(times) > 1_700_000_000_000
    assert messages == [
        ["run", ["http://a", "experiment", "uid", "name"], module.LAST_SECONDS],
        ["open", {"a": "b"}, 3],
        ["log", 2, {"learning_rate": 0.1, "rows_per_second": 10.0, "train/y/loss": 0.5}],
        ["log", 4, {"test/y/loss": 0.5}],
        ["artifacts", {"a.txt": "x"}, "m"],
        ["end", True],
    ]
    assert lines == ["a line"]


def test_a_process_that_reads_nothing_holds_back_no_event_and_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LAST_SECONDS", 0.0)
    monkeypatch.setattr(module, "_EXIT_SECONDS", 0.1)
    lines = list[str]()
    tracker = tracker_of(lines, "-c", "import time; time.sleep(600)")
    for event in (STARTED, *(round_of(step) for step in range(1, 5_000))):
        tracker.on_event(event)  # more than a pipe holds
    tracker.close()
    assert lines == ["mlflow: the process that sends the requests has ended with exit code -9"]


def test_a_process_that_dies_fails_no_run() -> None:
    lines = list[str]()
    tracker = tracker_of(lines, "-c", "exit(3)")
    for event in (STARTED, round_of(2), ENDED):
        tracker.on_event(event)
    tracker.close()
    assert lines == ["mlflow: the process that sends the requests has ended with exit code 3"]
