from __future__ import annotations

from types import SimpleNamespace
from unittest.mock import Mock, patch

import pytest

from trainwright_trainer.callbacks.events import Ended, Evaluated, Stepped
from trainwright_trainer.distributed.rank_info import RankInfo
from trainwright_trainer.distributed.ranks import PeerLost
from trainwright_trainer.tasks import worker
from trainwright_trainer.tasks.worker import EVERY_SECONDS, RemoteConsole, WorkerSpec, work


class Link:
    def __init__(self):
        self.sent = []

    def send(self, kind, content):
        self.sent.append((kind, content))

    def settle(self):
        self.sent.append(("settle", None))

    def ended(self):
        return False

    def close(self): ...


def step(number):
    return Stepped(0, number, number, 100, 0.1)


def test_steps_are_reported_now_and_then_and_everything_else_at_once():
    channel, times = Link(), iter([0.0, 0.0, EVERY_SECONDS / 2, EVERY_SECONDS, EVERY_SECONDS])
    console, ended = RemoteConsole(channel, clock=lambda: next(times)), Ended(1.0, 0, 3, {}, "epochs")
    for event in (step(1), step(2), step(3), step(4), ended):
        console.on_event(event)
    assert [content for _, content in channel.sent] == [step(1), step(3), ended]


def test_the_scores_of_a_round_may_stop_the_run():
    channel, scores = Link(), Evaluated(0, 5, 1.0, 5.0, 0.1, {}, best=True)
    RemoteConsole(channel).on_event(scores)
    assert channel.sent == [("event", scores), ("settle", None)]


def test_notices_are_reported_once_with_their_source():
    channel = Link()
    console = RemoteConsole(channel)
    console.log()
    console.log_notices(["a", "b", "a"], "rows.csv")
    assert channel.sent == [("log", ("rows.csv: a", "rows.csv: b"))]


def worked(error: Exception) -> Link:
    """The messages of a worker whose training raises `error`."""
    channel, threads = Link(), SimpleNamespace(asked=1)
    with patch.multiple(worker, _trained=Mock(side_effect=error), threads_of=Mock(return_value=threads)):
        work(WorkerSpec(Mock(), {}, Mock()), RankInfo(0, 1, "cpu", 1), channel)
    return channel


def test_a_lost_peer_is_found_wherever_a_library_meets_it():
    with pytest.raises(PeerLost, match="Connection reset by peer"):
        worked(RuntimeError("[pair.cc:545] Read error [127.0.0.1]: Connection reset by peer"))


def test_another_error_is_reported_to_the_driver():
    ((kind, (rank, outcome)),) = worked(RuntimeError("shapes differ")).sent
    assert (kind, rank) == ("ended", 0)
    assert (outcome.kind, outcome.line) == ("crash", "RuntimeError: shapes differ")


def test_the_data_are_prepared_with_the_processor_of_the_section():
    spec = WorkerSpec(Mock(), {}, Mock())
    with patch.multiple(worker, prepare_data=Mock(side_effect=RuntimeError("prepared"))):
        with pytest.raises(RuntimeError, match="prepared"):
            worker._prepared(spec, Mock(rank=0), Mock())
        worker.prepare_data.assert_called_once_with(spec.job, spec.processor_of.return_value)
    spec.processor_of.assert_called_once_with(spec.job.spec.backend.processor)
