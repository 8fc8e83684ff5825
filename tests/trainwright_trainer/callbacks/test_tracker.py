"""A tracker: in order, repeated, bounded, and never in the way of training."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import pytest

from trainwright_trainer.callbacks import tracker as module
from trainwright_trainer.callbacks.events import Ended, Evaluated, Started
from trainwright_trainer.callbacks.tracker import Tracker

STARTED = Started("a", 10, {"train": 8}, 1, {"y": "number"}, "", False, 4, "adam", 0.1, 2, 2, 1, "y.loss", 3)
ENDED = Ended(1.0, 1, 4, {"y": {"loss": 0.5}}, "epochs")


def round_of(step: int) -> Evaluated:
    return Evaluated(0, step, 1.0, 10.0, 0.1, {"train": {"y": {"loss": 1.0 / step, "r2": float("nan")}}}, True)


class Refusal(Exception):
    """An answer of the server that a retry does not change."""

    def get_http_status_code(self) -> int:
        return 400


class Server:
    """Records the requests. The first `failures` of them raise `error`; `gate` holds back every request."""

    def __init__(self, failures: int = 0, error: Exception | None = None) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.failures, self.error = failures, error or ConnectionError("no route to host\nmore")
        self.gate = threading.Event()
        self.gate.set()
        self.recovered = threading.Event()

    def _take(self, *call: Any) -> None:
        self.gate.wait()
        if self.failures:
            self.failures -= 1
            if not self.failures:
                self.recovered.set()
            raise self.error
        self.calls.append(call)

    def open(self, parameters: Mapping[str, Any], attempt: int) -> None:
        self._take("open", parameters, attempt)

    def log(self, step: int, scalars: Mapping[str, float], milliseconds: int) -> None:
        assert milliseconds > 1_700_000_000_000
        self._take("log", step, dict(scalars))

    def artifacts(self, *given: Any) -> None:
        self._take("artifacts", *given)

    def end(self, *, finished: bool) -> None:
        self._take("end", finished)


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AGAIN_SECONDS", 0.01)
    monkeypatch.setattr(module, "LAST_SECONDS_UNREACHED", 30.0)


def tracker_of(server: Server, lines: list[str]) -> Tracker:
    return Tracker(server, {"a": 1}, lambda run: run.artifacts("files"), lines.append)  # type: ignore[call-arg,arg-type]


def test_the_requests_follow_the_events_in_order() -> None:
    server, lines = Server(), list[str]()
    tracker = tracker_of(server, lines)
    for event in (STARTED, round_of(2), round_of(4), ENDED):
        tracker.on_event(event)
    tracker.close()
    plain = {"learning_rate": 0.1, "rows_per_second": 10.0}
    assert server.calls == [
        ("open", {"a": 1}, 3),
        ("log", 2, {**plain, "train/y/loss": 0.5}),
        ("log", 4, {**plain, "train/y/loss": 0.25}),
        ("log", 4, {"test/y/loss": 0.5}),
        ("artifacts", "files"),
        ("end", True),
    ]
    assert lines == []


def test_an_attempt_without_an_end_is_not_finished() -> None:
    server = Server()
    tracker = tracker_of(server, [])
    tracker.on_event(STARTED)
    tracker.close()
    assert server.calls[-1] == ("end", False)


def test_a_request_is_repeated_until_the_server_takes_it_and_one_line_says_so() -> None:
    server, lines = Server(failures=3), list[str]()
    tracker = tracker_of(server, lines)
    tracker.on_event(STARTED)
    tracker.on_event(round_of(2))
    assert server.recovered.wait(30)
    tracker.close()
    assert [call[0] for call in server.calls] == ["open", "log", "end"]
    assert lines == ["mlflow is not reached, and training goes on: no route to host", "mlflow is reached again"]


def test_a_refused_request_is_not_repeated() -> None:
    server, lines = Server(failures=1, error=Refusal("bad name")), list[str]()
    tracker = tracker_of(server, lines)
    tracker.on_event(STARTED)
    tracker.on_event(round_of(2))
    tracker.close()
    assert [call[0] for call in server.calls] == ["log", "end"]
    assert lines == ["mlflow refuses a request: bad name"]


def test_a_dead_server_is_given_up_at_the_end() -> None:
    server, lines = Server(failures=10**9), list[str]()
    tracker = tracker_of(server, lines)
    for event in (STARTED, round_of(2), ENDED):
        tracker.on_event(event)
    tracker.close()
    assert lines == [
        "mlflow is not reached, and training goes on: no route to host",
        "mlflow: 5 requests could not be sent",
    ]


def test_a_server_that_hangs_holds_back_no_event_and_a_bounded_number_of_requests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MAX_WAITING", 5)
    monkeypatch.setattr(module, "LAST_SECONDS", 0.1)
    server, lines = Server(), list[str]()
    server.gate.clear()
    tracker = tracker_of(server, lines)
    for event in (STARTED, *(round_of(step) for step in range(1, 20)), ENDED):
        tracker.on_event(event)  # returns, although no request does
    tracker.close()
    server.gate.set()
    assert lines[-1].startswith("mlflow: ")
    assert lines[-1].endswith(" requests could not be sent")
    assert len(server.calls) <= 6
