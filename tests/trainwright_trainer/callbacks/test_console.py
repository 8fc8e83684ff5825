"""The three kinds of console output of a run."""

from __future__ import annotations

import io
import json
import os

import pytest

from trainwright_trainer.callbacks.console import Console
from trainwright_trainer.callbacks.events import Ended


@pytest.fixture
def stream():
    return io.StringIO()


ENDED = Ended(1.0, 0, 5, {}, "epochs", ("done in 1 s",))


def test_lines_for_people(stream):
    console = Console(stream)
    console.log("one", "two")
    console.on_event(ENDED)
    console.close()
    assert stream.getvalue() == "one\ntwo\ndone in 1 s\n"


def test_a_notice_that_no_one_reads_does_not_stop_the_run():
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as stream:
        Console(stream).log("one", "two")


def test_notices_are_logged_once_with_their_file(stream):
    Console(stream).log_notices(["a", "b", "a"], "job.yaml")
    assert stream.getvalue() == "job.yaml: a\njob.yaml: b\n"


def test_objects_for_programs(stream):
    console = Console(stream, as_json=True)
    console.log("ü")
    console.on_event(ENDED)
    console.close()
    first, last = map(json.loads, stream.getvalue().splitlines())
    assert first == {"event": "notice", "line": "ü"}
    assert last["event"] == "ended"


def test_a_line_goes_through_a_live_display(stream, monkeypatch, started):
    monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    console = Console(stream)
    console.log("reading")
    console.on_event(started())
    console.log("baselines took 2 s")
    console.close()
    assert stream.getvalue().startswith("reading\n")
    assert "in allbaselines" not in stream.getvalue()
    assert "baselines took 2 s\n" in stream.getvalue()


def test_nothing_where_it_is_quiet(stream):
    console = Console(stream, quiet=True)
    console.log("one")
    console.log_notices(["a"], "job.yaml")
    console.on_event(ENDED)
    console.close()
    assert stream.getvalue() == ""


@pytest.mark.parametrize("quiet", [False, True])
def test_others_hear_and_are_closed_with_it(stream, quiet):
    class Other:
        def __init__(self):
            self.events, self.closed = [], False

        def on_event(self, event):
            self.events.append(event)

        def close(self):
            self.closed = True

    console, other = Console(stream, quiet=quiet), Other()
    console.share(other)
    console.on_event(ENDED)
    assert (other.events, other.closed) == ([ENDED], False)
    console.close()
    assert other.closed


def test_closing_before_anything_is_reported(stream):
    Console(stream).close()
    assert stream.getvalue() == ""


def test_without_a_stream_it_is_that_of_the_program(capsys):
    Console().log("here")
    assert capsys.readouterr().out == "here\n"


@pytest.mark.parametrize(
    ("is_terminal", "as_json", "shown"), [(True, False, "reading\n"), (True, True, ""), (False, False, "")]
)
def test_a_stage_is_shown_in_a_terminal_alone(
    monkeypatch: pytest.MonkeyPatch, is_terminal: bool, as_json: bool, shown: str
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: is_terminal)
    Console(stream, as_json=as_json).stage("reading")
    assert stream.getvalue() == shown
