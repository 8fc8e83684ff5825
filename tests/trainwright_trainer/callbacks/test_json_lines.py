from __future__ import annotations

import io
import json
import math
from collections.abc import Callable
from typing import Any

from trainwright_trainer.callbacks.events import Checkpointed, Ended, RankRound
from trainwright_trainer.callbacks.json_lines import JsonLines, nan_to_none

Build = Callable[..., Any]


def test_one_object_a_line_and_event(
    clock: Any, started: Build, stepped: Build, evaluated: Build, ended: Ended
) -> None:
    stream = io.StringIO()
    lines = JsonLines(stream, clock=clock)
    for event in (started(), stepped(0, 1024), evaluated(0, 0.44, 0.73), Checkpointed("0000000231-1"), ended):
        lines.on_event(event)
    lines.close()
    events = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["event"] for line in events] == ["started", "stepped", "evaluated", "checkpointed", "ended"]
    assert events[2]["scores"]["validation"]["late"] == {"loss": 0.44, "roc_auc": 0.73}
    assert events[4]["best_epoch"] == 13


def test_ranks_are_objects(clock: Any, started: Build, evaluated: Build, ranks: tuple[RankRound, ...]) -> None:
    stream = io.StringIO()
    lines = JsonLines(stream, clock=clock)
    for event in (started(), evaluated(0, 0.44, 0.73, ranks=ranks)):
        lines.on_event(event)
    events = json.loads(stream.getvalue().splitlines()[1])
    assert [(one["host"], one["gpu_use"]) for one in events["ranks"]] == [
        ("flights-w-a", 0.41),
        ("flights-w-b", 0.4),
        ("flights-w-c", None),
    ]


def test_steps_are_reported_once_a_second(clock: Any, started: Build, stepped: Build) -> None:
    stream = io.StringIO()
    lines = JsonLines(stream, clock=clock)
    lines.on_event(started())
    for tenth in range(50):
        lines.on_event(stepped(0, tenth * 1000))
        clock.now += 0.125
    events = [json.loads(line) for line in stream.getvalue().splitlines()][1:]
    assert len(events) == 7
    assert events[0]["rows_per_second"] is None
    assert events[-1]["rows_per_second"] == 8000.0
    assert events[-1]["seconds_left"] > 0


def test_what_json_lacks_is_null() -> None:
    value = {"a": math.nan, "b": [math.inf, 1.5], "c": (1, "x", None, True)}
    assert nan_to_none(value) == {"a": None, "b": [None, 1.5], "c": [1, "x", None, True]}
