"""A sender: in order, repeated, joined, and bounded."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from trainwright_trainer.callbacks import sender as module
from trainwright_trainer.callbacks.mlflow_run import Round
from trainwright_trainer.callbacks.sender import Sender


class Refusal(Exception):
    """An answer of the server that a retry does not change."""

    def get_http_status_code(self) -> int:
        return 400


class Server:
    """Records the calls. The first `failures` of them raise `error`; `gate` holds back every call."""

    def __init__(self, failures: int = 0, error: Exception | None = None) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.failures, self.error = failures, error or ConnectionError("no route to host\nmore")
        self.gate, self.entered, self.recovered = threading.Event(), threading.Event(), threading.Event()
        self.gate.set()

    def _take(self, *call: Any) -> None:
        self.entered.set()
        self.gate.wait()
        if self.failures:
            self.failures -= 1
            if not self.failures:
                self.recovered.set()
            raise self.error
        self.calls.append(call)

    def open(self, parameters: Mapping[str, Any], attempt: int) -> None:
        self._take("open", parameters, attempt)

    def log(self, rounds: Sequence[Round]) -> None:
        self._take("log", [step for step, _, _ in rounds])

    def artifacts(self, files: Mapping[str, str], model: str) -> None:
        self._take("artifacts", files, model)

    def end(self, finished: bool) -> None:
        self._take("end", finished)


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AGAIN_SECONDS", 0.01)
    monkeypatch.setattr(module, "LAST_SECONDS_UNREACHED", 30.0)


def test_the_calls_have_the_order_of_the_messages_and_waiting_scores_are_one_call() -> None:
    server, lines = Server(), list[str]()
    server.gate.clear()
    sender = Sender(server, lines.append, 30.0)
    sender.put("open", {"a": 1}, 3)
    assert server.entered.wait(30)
    for step in (2, 4, 6):
        sender.put("log", step, {"loss": 0.5}, 0)
    sender.put("artifacts", {"a.txt": "x"}, "out/model")
    server.gate.set()
    sender.close(finished=True)
    assert server.calls == [
        ("open", {"a": 1}, 3),
        ("log", [2, 4, 6]),
        ("artifacts", {"a.txt": "x"}, "out/model"),
        ("end", True),
    ]
    assert lines == []


def test_a_call_is_repeated_until_the_server_takes_it_and_one_line_says_so() -> None:
    server, lines = Server(failures=3), list[str]()
    sender = Sender(server, lines.append, 30.0)
    sender.put("open", {}, 1)
    assert server.recovered.wait(30)
    sender.close(finished=False)
    assert server.calls == [("open", {}, 1), ("end", False)]
    assert lines == ["mlflow is not reached, and training goes on: no route to host", "mlflow is reached again"]


def test_a_refused_call_is_not_repeated() -> None:
    server, lines = Server(failures=1, error=Refusal("bad name")), list[str]()
    sender = Sender(server, lines.append, 30.0)
    sender.put("log", 2, {}, 0)
    sender.close(finished=True)
    assert server.calls == [("end", True)]
    assert lines == ["mlflow refuses a request: bad name"]


def test_the_same_refusal_of_many_requests_is_one_line() -> None:
    server, lines = Server(failures=3, error=Refusal("expired")), list[str]()
    sender = Sender(server, lines.append, 30.0)
    for name in ("log", "artifacts", "log"):
        sender.put(name, *([2, {}, 0] if name == "log" else [{}, "m"]))
    sender.close(finished=True)
    assert server.calls == [("end", True)]
    assert lines == ["mlflow refuses a request: expired"]


def test_a_run_that_is_refused_gets_no_other_request_and_one_line() -> None:
    server, lines = Server(failures=1, error=Refusal("wrong password")), list[str]()
    sender = Sender(server, lines.append, 30.0)
    sender.put("open", {}, 1)
    sender.put("log", 2, {}, 0)
    sender.close(finished=True)
    assert server.calls == []
    assert lines == ["mlflow refuses the run, and training goes on without it: wrong password"]


class NoFiles(Server):
    """A server whose store of files cannot be written from here."""

    def _take(self, *call: Any) -> None:
        if call[0] == "artifacts":
            raise PermissionError(13, "Permission denied")
        super()._take(*call)


def test_a_run_whose_files_cannot_be_sent_ends_nevertheless() -> None:
    server, lines = NoFiles(), list[str]()
    sender = Sender(server, lines.append, 30.0)
    sender.put("open", {}, 1)
    sender.put("artifacts", {"a.txt": "x"}, "out/model")
    sender.close(finished=True)
    assert server.calls == [("open", {}, 1), ("end", True)]
    assert lines[-1] == "mlflow: 1 request could not be sent"


def held_back(server: Server, lines: list[str], last_seconds: float, *, rounds: int) -> Sender:
    """A sender whose first message the server holds back, and rounds that wait behind it."""
    server.gate.clear()
    sender = Sender(server, lines.append, last_seconds)
    sender.put("open", {}, 1)
    assert server.entered.wait(30)
    for step in range(rounds):
        sender.put("log", step, {}, 0)
    return sender


def test_the_end_is_sent_after_a_full_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_WAITING", 2)
    server, lines = Server(), list[str]()
    sender = held_back(server, lines, 30.0, rounds=4)
    threading.Timer(0.1, server.gate.set).start()
    sender.close(finished=True)
    assert server.calls == [("open", {}, 1), ("log", [0, 1]), ("end", True)]
    assert lines == ["mlflow: 2 requests could not be sent"]


def test_a_dead_server_is_given_up_at_the_end() -> None:
    server, lines = Server(failures=10**9), list[str]()
    sender = Sender(server, lines.append, 30.0)
    sender.put("open", {}, 1)
    sender.put("log", 2, {}, 0)
    sender.close(finished=True)
    assert lines == [
        "mlflow is not reached, and training goes on: no route to host",
        "mlflow: 3 requests could not be sent",
    ]


def test_a_server_that_hangs_holds_back_a_bounded_number_of_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_WAITING", 5)
    server, lines = Server(), list[str]()
    sender = held_back(server, lines, 0.1, rounds=20)
    sender.close(finished=True)
    assert lines == ["mlflow: 22 requests could not be sent"]
    server.gate.set()
