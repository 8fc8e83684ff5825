from __future__ import annotations

import io
import sys

from trainwright_api.resource.messages import LOG_BYTES
from trainwright_trainer.pod.log_tail import KEPT, LogTail


def kept(*pieces):
    out, err = io.StringIO(), io.StringIO()
    with LogTail().keeping(out, err) as log:
        for piece in pieces:
            print(piece, end="")
    assert (out.getvalue(), err.getvalue()) == ("".join(pieces), "")
    return log.text()


def test_both_streams_are_kept_in_order_and_go_where_they_went():
    out, err = io.StringIO(), io.StringIO()
    with LogTail().keeping(out, err) as log:
        print("one")
        print("two", file=sys.stderr)
        print("three")
    assert log.text() == "one\ntwo\nthree\n"
    assert (out.getvalue(), err.getvalue()) == ("one\nthree\n", "two\n")


def test_afterwards_the_streams_are_as_they_were():
    before = sys.stdout, sys.stderr
    with LogTail().keeping(io.StringIO(), io.StringIO()):
        assert sys.stdout is not before[0]
    assert (sys.stdout, sys.stderr) == before


def test_no_terminal_is_seen(monkeypatch):
    out = io.StringIO()
    monkeypatch.setattr(out, "isatty", lambda: True)
    with LogTail().keeping(out, out):
        assert not sys.stdout.isatty()
        assert sys.stdout.encoding == out.encoding


def test_the_last_whole_lines_in_4_kib():
    text = kept(*(f"line {number}\n" for number in range(10_000)))
    assert text.endswith("line 9999\n")
    assert text.startswith("line ")
    assert LOG_BYTES - 20 < len(text) <= LOG_BYTES


def test_no_secret_is_reported_and_no_half_of_one():
    assert kept("password=hunter2\n") == "password=(hidden)\n"
    # The kept text begins inside the secret, after its key.
    cut = f"token={'s' * 100}\n" + "x\n" * ((KEPT - 50) // 2)
    assert "s" not in kept(cut)
