from __future__ import annotations

import signal
import threading

import pytest

from trainwright_trainer.errors import StoppedRun
from trainwright_trainer.signals import SIGNALS, StopRequest, stopping_on_signals


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


def test_where_there_is_nothing_to_finish_a_request_ends_the_run():
    with stopping_on_signals(StopRequest()) as stop:
        with pytest.raises(StoppedRun, match=r"^stopped by SIGTERM before the end\.$"), stop.at_once("before the end."):
            signal.raise_signal(signal.SIGTERM)
        with pytest.raises(StoppedRun), stop.at_once("too, for it was asked before."):
            pass


def test_in_another_thread_signals_are_left_alone():
    before, seen = [signal.getsignal(number) for number in SIGNALS], []

    def run() -> None:
        with stopping_on_signals(StopRequest()):
            seen.extend(signal.getsignal(number) for number in SIGNALS)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen == before
