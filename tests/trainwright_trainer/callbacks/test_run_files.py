"""metrics.json during a run, and the order of the events that listeners get."""

from __future__ import annotations

import json

import pytest

from trainwright_trainer.callbacks.events import Checkpointed, Ended, Evaluated, Event, Started, Stepped
from trainwright_trainer.callbacks.run_files import BestEffort, MetricsFile, Relay
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.rundir.attempt import begin
from trainwright_trainer.rundir.preflight import ExistingRun
from trainwright_trainer.storage.local import FolderStorage

STARTED = Started("job", 10, {"train": 10}, 1, {"y": "number"}, "", False, 5, "sgd", 0.1, 3, 2, 1, "y.loss", 1)
ENDED = Ended(3.0, 1, 4, {"y": {"loss": 0.5}}, "epochs")


def evaluated(epoch, loss=1.0):
    scores = {"train": {"combined": {"loss": loss}}}
    return Evaluated(epoch, 2 * (epoch + 1), float(epoch), 100.0, 0.1, scores, True)


@pytest.fixture
def attempt(tmp_path):
    """Begins the next attempt of one run."""
    job = {"spec": {"config": {"trainer": {"epochs": 3}}, "dataset": "d", "seed": 1}}
    return lambda how: begin(FolderStorage(tmp_path / "out"), job, how, name="job")


@pytest.fixture
def metrics(tmp_path):
    """The content of the file; None if it does not exist."""
    path = tmp_path / "out/metrics.json"
    return lambda: json.loads(path.read_text()) if path.exists() else None


class ClosingListener:
    def __init__(self):
        self.events = []
        self.closed = False

    def on_event(self, event):
        self.events.append(event)

    def close(self):
        self.closed = True


def test_the_file_is_whole_after_every_round(attempt, metrics):
    file = MetricsFile(attempt(ExistingRun.NEW))
    file.on_event(STARTED)
    file.on_event(Stepped(0, 1, 5, 10, 0.1))
    assert metrics() is None
    for epoch in range(2):
        file.on_event(evaluated(epoch))
        assert [row["epoch"] for row in metrics()["rounds"]] == list(range(epoch + 1))
        assert metrics()["end"] is None
    file.on_event(ENDED)
    file.close()
    assert metrics()["end"]["test"] == {"y": {"loss": 0.5}}


def test_a_resumed_run_keeps_its_rounds(attempt, metrics):
    first = MetricsFile(attempt(ExistingRun.NEW))
    for event in (STARTED, evaluated(0, 3.0), evaluated(1, 2.0)):
        first.on_event(event)
    second = MetricsFile(attempt(ExistingRun.RESUME))
    second.on_event(Started(**{**vars(STARTED), "attempt": 2, "epoch": 1, "step": 2}))
    second.on_event(evaluated(1, 1.0))
    losses = [row["scores"]["train"]["combined"]["loss"] for row in metrics()["rounds"]]
    assert losses == [3.0, 1.0]


def test_a_run_that_starts_anew_forgets(attempt, metrics):
    first = MetricsFile(attempt(ExistingRun.NEW))
    for event in (STARTED, evaluated(0)):
        first.on_event(event)
    again = MetricsFile(attempt(ExistingRun.OVERWRITE))
    again.on_event(Started(**{**vars(STARTED), "attempt": 2}))
    again.on_event(evaluated(0, 9.0))
    assert len(metrics()["rounds"]) == 1


def test_the_relay_shows_checkpoints_with_the_next_event():
    listener, other = ClosingListener(), ClosingListener()
    relay = Relay([listener, other])
    relay.on_event(STARTED)
    relay.checkpointed("0000000002-1", None)
    relay.checkpointed("0000000004-1", "the disk is full")
    assert listener.events == [STARTED]
    relay.on_event(ENDED)
    relay.close()
    saved = [Checkpointed("0000000002-1"), Checkpointed("0000000004-1", "the disk is full")]
    assert listener.events == other.events == [STARTED, *saved, ENDED]
    assert listener.closed
    assert other.closed


def test_the_last_checkpoint_of_a_stopped_run_is_received():
    listener = ClosingListener()
    relay = Relay([listener])
    relay.on_event(STARTED)
    relay.checkpointed("0000000002-1", None)
    relay.close()
    assert listener.events == [STARTED, Checkpointed("0000000002-1")]
    assert listener.closed


class Full:
    """A listener whose disk is full."""

    def __init__(self, error: Exception) -> None:
        self.error, self.events = error, []

    def on_event(self, event: Event) -> None:
        self.events.append(event)
        raise self.error

    def close(self) -> None:
        raise self.error


@pytest.mark.parametrize("error", [OSError(28, "the disk is full"), EnvironmentFailure("the disk is full")])
def test_what_is_dispensable_is_tried_again_and_reported_once(error):
    full, lines = Full(error), []
    listener = BestEffort(full, "logs", lines.append, to_the_end=True)
    for event in (STARTED, evaluated(0), ENDED):
        listener.on_event(event)
    listener.close()
    assert full.events == [STARTED, evaluated(0), ENDED]
    assert lines == ["logs cannot be written for now: the disk is full"]


def test_the_end_is_not_dispensable_where_it_counts():
    listener = BestEffort(Full(EnvironmentFailure("the disk is full")), "metrics.json", print, to_the_end=False)
    with pytest.raises(EnvironmentFailure):
        listener.on_event(ENDED)
