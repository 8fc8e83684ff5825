"""The thread that tells the operator, against an operator that answers as the test says. Nothing sleeps here."""

from __future__ import annotations

import queue
import threading

import pytest

from trainwright_api.resource.messages import OutcomeMessage, ProgressMessage, Reply
from trainwright_trainer.callbacks.endpoint import NotTaken
from trainwright_trainer.callbacks.events import Checkpointed, Reported
from trainwright_trainer.callbacks.push import Pusher, ReportSource
from trainwright_trainer.callbacks.report_schedule import GAP_SECONDS

DONE = OutcomeMessage(attempt=2, outcome="done", line="the model is there")
TIMEOUT_SECONDS = 30.0


class Operator:
    """Answers each report with the next of `answers`, then with the last of them for ever."""

    def __init__(self, *answers):
        self._answers = list(answers)
        self.reports = queue.Queue()

    def __call__(self, report):
        self.reports.put(report)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, NotTaken):
            raise answer
        return answer

    def next(self):
        return self.reports.get(timeout=TIMEOUT_SECONDS)


@pytest.fixture
def sinks_of():
    """Return the queues that record the pusher's calls."""
    return {"stop": queue.Queue(), "log": queue.Queue()}


@pytest.fixture
def pusher(sinks_of):
    """Its clock stands still: after the first report it is time for no other."""

    def made(operator, **changes):
        settings = {"clock": lambda: 0.0, "again": 0.001, **changes}
        sinks = {name: sink.put for name, sink in sinks_of.items()}
        return Pusher(operator, ReportSource("abc", 2, "train"), **sinks, **settings)

    return made


def test_the_first_report_says_what_the_pod_does(pusher):
    operator = Operator(Reply())
    pushing = pusher(operator)
    pushing.start()
    report = operator.next()
    assert (report.uid, report.attempt, report.progress.stage, report.outcome) == ("abc", 2, "train", None)
    assert pushing.finish(DONE) is None


def test_the_last_report_holds_progress_and_outcome(pusher, started):
    operator = Operator(Reply())
    pushing = pusher(operator)
    pushing.on_event(started())
    pushing.start()
    assert operator.next().progress.epochs == 20
    assert pushing.finish(DONE) is None
    last = operator.next()
    assert (last.outcome, last.progress.stage, last.progress.epochs) == (DONE, "train", 20)
    assert operator.reports.empty()


def test_a_number_that_cannot_be_reported_ends_neither_the_reports_nor_the_stop(pusher, sinks_of):
    """A train function reports any number as its epoch."""
    operator = Operator(Reply(stop=True, reason="the job is suspended"))
    pushing = pusher(operator)
    pushing.on_event(Reported(1, 1.0, {"epoch": 2.0**60}))
    pushing.start()
    assert operator.next().progress == ProgressMessage(stage="train")
    assert sinks_of["stop"].get(timeout=TIMEOUT_SECONDS) == "the job is suspended"
    assert pushing.finish(DONE) is None
    assert operator.next().outcome == DONE
    assert sinks_of["log"].get(timeout=TIMEOUT_SECONDS).startswith("the progress cannot be reported: epoch: ")
    assert sinks_of["log"].empty()


def test_a_checkpoint_is_reported_before_its_turn(pusher, clock):
    operator = Operator(Reply())
    pushing = pusher(operator, clock=clock)
    pushing.start()
    operator.next()
    clock.now += GAP_SECONDS
    pushing.on_event(Checkpointed("0000000001-2"))
    assert operator.next().progress.last_checkpoint == "0000000001-2"
    assert pushing.finish(DONE) is None


def test_the_operator_asks_it_to_stop(pusher, sinks_of):
    operator = Operator(Reply(stop=True, reason="the job is suspended"))
    pushing = pusher(operator)
    pushing.start()
    assert sinks_of["stop"].get(timeout=TIMEOUT_SECONDS) == "the job is suspended"
    assert pushing.finish(DONE) is None


def test_one_notice_when_it_is_out_of_reach_and_the_outcome_is_tried_again(pusher, sinks_of):
    operator = Operator(NotTaken("it answers 500"), NotTaken("it answers 500"), Reply())
    pushing = pusher(operator)
    pushing.start()
    assert sinks_of["log"].get(timeout=TIMEOUT_SECONDS) == "progress reports do not reach the operator: it answers 500"
    assert pushing.finish(DONE) is None
    reports = [operator.next() for _ in range(3)]
    assert [report.outcome for report in reports] == [None, DONE, DONE]
    assert sinks_of["log"].empty()


def test_after_30_seconds_it_gives_up(pusher, clock):
    outcomes = []

    def failing(report):
        if report.outcome is not None:
            outcomes.append(report.outcome)
            clock.now += 10
        raise NotTaken("it answers 500")

    pushing = pusher(failing, clock=clock)
    pushing.start()
    assert pushing.finish(DONE) == "it answers 500"
    assert len(outcomes) == 3


def test_what_is_refused_is_not_tried_again(pusher):
    operator = Operator(NotTaken("it answers 403: the pod is gone", refused=True))
    pushing = pusher(operator)
    pushing.start()
    operator.next()
    assert pushing.finish(DONE) == "it answers 403: the pod is gone"
    assert operator.next().outcome == DONE
    assert operator.reports.empty()


def test_training_does_not_wait_while_it_hangs(pusher, started, stepped):
    asked, answered = threading.Event(), threading.Event()

    def hanging(_):
        asked.set()
        answered.wait(TIMEOUT_SECONDS)
        return Reply()

    pushing = pusher(hanging)
    pushing.start()
    assert asked.wait(TIMEOUT_SECONDS)
    pushing.on_event(started())
    for rows in range(0, 100_000, 1024):
        pushing.on_event(stepped(0, rows))
    assert not answered.is_set()
    answered.set()
    assert pushing.finish(DONE) is None
