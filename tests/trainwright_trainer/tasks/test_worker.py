from __future__ import annotations

from trainwright_trainer.callbacks.events import Ended, Stepped
from trainwright_trainer.tasks.worker import EVERY_SECONDS, RemoteConsole


class Link:
    def __init__(self):
        self.sent = []

    def send(self, kind, content):
        self.sent.append((kind, content))


def step(number):
    return Stepped(0, number, number, 100, 0.1)


def test_steps_are_reported_now_and_then_and_everything_else_at_once():
    channel, times = Link(), iter([0.0, 0.0, EVERY_SECONDS / 2, EVERY_SECONDS, EVERY_SECONDS])
    console, ended = RemoteConsole(channel, clock=lambda: next(times)), Ended(1.0, 0, 3, {}, "epochs")
    for event in (step(1), step(2), step(3), step(4), ended):
        console.on_event(event)
    assert [content for _, content in channel.sent] == [step(1), step(3), ended]


def test_notices_are_reported_once_with_their_source():
    channel = Link()
    console = RemoteConsole(channel)
    console.log()
    console.log_notices(["a", "b", "a"], "rows.csv")
    assert channel.sent == [("log", ("rows.csv: a", "rows.csv: b"))]
