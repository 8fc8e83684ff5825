from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest

from trainwright_trainer.errors import StoppedRun
from trainwright_trainer.runtime.signals import (
    SIGNALS,
    StopRequest,
    ending_on_signals,
    handlers_kept,
    stopping_in_a_pod,
    stopping_on_signals,
)


@pytest.fixture(autouse=True)
def in_the_foreground() -> Iterator[None]:
    """Set the default SIGINT handler, as the tests may run in the background, where SIGINT is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_signal_is_a_request_and_names_itself(number):
    before = signal.getsignal(number)
    with stopping_on_signals(StopRequest()) as stop:
        assert not stop
        signal.raise_signal(number)
        assert stop
        assert stop.reason == number.name
    assert signal.getsignal(number) is before


def test_the_second_does_what_it_did_before():
    with stopping_on_signals(StopRequest()) as stop:
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert stop.reason == "SIGTERM"


@pytest.mark.parametrize("listening", [lambda: stopping_on_signals(StopRequest()), ending_on_signals])
def test_in_the_background_ctrl_c_is_for_others(listening):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with listening() as stop:
        signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    assert not stop


def test_where_there_is_nothing_to_finish_a_request_ends_the_run():
    with stopping_on_signals(StopRequest()) as stop:
        with pytest.raises(StoppedRun, match=r"^stopped by SIGTERM before the end\.$"), stop.at_once("before the end."):
            signal.raise_signal(signal.SIGTERM)
        with pytest.raises(StoppedRun), stop.at_once("too, for it was asked before."):
            pass


def _wait(event: threading.Event) -> None:
    """Wait in short steps, because a signal right before a wait does not interrupt it."""
    while not event.wait(0.1):
        pass


def test_a_library_that_replaces_the_exception_does_not_hide_the_stop():
    def get() -> None:
        try:
            signal.raise_signal(signal.SIGTERM)
        except StoppedRun as error:
            raise SystemError("returned a result with an exception set") from error

    with (
        stopping_on_signals(StopRequest()) as stop,
        pytest.raises(StoppedRun, match=r"^stopped by SIGTERM before it\.$"),
        stop.at_once("before it."),
    ):
        get()


def test_an_error_without_a_request_is_no_stop():
    with pytest.raises(ValueError, match="a mistake"), StopRequest().at_once("before it."):
        raise ValueError("a mistake")


def test_a_request_from_a_thread_wakes_what_is_to_be_ended_at_once():
    waiting, never = threading.Event(), threading.Event()

    def ask() -> None:
        waiting.wait()
        stop.ask_from_a_thread("the operator")

    with stopping_in_a_pod(StopRequest()) as stop:
        thread = threading.Thread(target=ask)
        thread.start()
        waiting.set()
        with pytest.raises(StoppedRun, match=r"^stopped by the operator before it\.$"), stop.at_once("before it."):
            _wait(never)
        thread.join()
        assert stop.reason == "the operator"


def test_a_request_from_a_thread_is_a_flag_where_there_is_something_to_finish():
    stop = StopRequest()
    stop.ask_from_a_thread("the operator")
    stop.ask_from_a_thread("somebody else")
    assert stop.reason == "the operator"


def test_in_a_pod_no_signal_ends_it_at_once():
    with stopping_in_a_pod(StopRequest()) as stop:
        for _ in range(3):
            signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)
        assert stop.reason == "SIGTERM"


def test_handlers_that_a_library_sets_are_put_back():
    before = [signal.getsignal(number) for number in SIGNALS]
    with handlers_kept():
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_in_another_thread_signals_are_left_alone():
    before, seen = [signal.getsignal(number) for number in SIGNALS], []

    def run() -> None:
        with stopping_on_signals(StopRequest()):
            seen.extend(signal.getsignal(number) for number in SIGNALS)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen == before
