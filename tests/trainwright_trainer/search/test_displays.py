"""The displays of a search, on text streams."""

from __future__ import annotations

import io
import json
import math

import pytest
from rich.console import Console

from trainwright_trainer.search import words
from trainwright_trainer.search.displays import JsonTrials, LiveTrials, PlainTrials, display_for
from trainwright_trainer.search.trials import Origin
from trainwright_trainer.search.words import SearchPlan


@pytest.fixture
def plan(objective):
    return SearchPlan("job", objective, ("rate", "kind"), 4, 60.0, 2, "random", "asha")


def played(display, log):
    """Three trials: one done, one failed, one that runs."""
    log.listen(lambda trial: display.changed(trial, log))
    for rate in (0.1, 0.2, 0.3):
        log.add({"rate": rate, "kind": "a [b]"}, {})
    log.add_score("0001", round_=1, epoch=0, step=5, value=0.75, seconds=1.5)
    log.end("0001", "done")
    log.end("0002", "failed", "column 'x' is missing", mistake=True)


def test_the_first_line_has_the_plan(plan):
    assert plan.line == (
        "job: search of 4 trials · 2 at a time · at most 0:01:00 · random · scheduler asha · "
        "maximize validation late.roc_auc"
    )


def test_the_time_left_follows_the_pace_within_the_budget(plan, trial):
    trials = [trial("0001", [0.5], "done"), trial("0002")]
    assert plan.left(trials, 10.0) == 30.0
    assert plan.left(trials, 50.0) == 10.0
    assert plan.left([], 10.0) == 50.0


def test_lines_tell_when_a_trial_begins_and_ends(plan, log):
    stream = io.StringIO()
    played(PlainTrials(plan, stream), log)
    assert stream.getvalue().splitlines() == [
        "trial 0001 begins: rate 0.1 · kind a [b]",
        "trial 0002 begins: rate 0.2 · kind a [b]",
        "trial 0003 begins: rate 0.3 · kind a [b]",
        "trial 0001 done: roc_auc 0.7500 · epoch 1 · 1.5 s · 1/4 trials · best 0.7500 (trial 0001)",
        "trial 0002 failed: column 'x' is missing · 2/4 trials · best 0.7500 (trial 0001)",
    ]


def test_of_a_chain_of_replaced_trials_the_last_one_counts(plan, log):
    streams = [io.StringIO(), io.StringIO()]
    shown = [PlainTrials(plan, streams[0]), JsonTrials(plan, streams[1])]
    log.listen(lambda trial: [one.changed(trial, log) for one in shown])
    for rate in (0.1, 0.2):
        log.add({"rate": rate}, {})
    log.add({"rate": 0.3}, {}, Origin("0002", "0000000005-1", "0001", 1))
    log.end("0001", "replaced")
    log.end("0003", "done")
    lines = streams[0].getvalue().splitlines()
    assert lines[2] == "trial 0003 begins in place of 0001, from trial 0002: rate 0.3"
    assert " · 0/4 trials" in lines[3]
    assert " · 1/4 trials" in lines[4]
    parents = [json.loads(line)["parent"] for line in streams[1].getvalue().splitlines()]
    assert parents == [None, None, "0002", None, "0002"]


def test_json_has_an_object_for_each_event(plan, log):
    stream = io.StringIO()
    played(JsonTrials(plan, stream), log)
    found = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(one["trial"], one["state"], one["score"]) for one in found] == [
        ("0001", "running", None),
        ("0002", "running", None),
        ("0003", "running", None),
        ("0001", "running", 0.75),
        ("0001", "done", 0.75),
        ("0002", "failed", None),
    ]
    assert found[-1]["line"] == "column 'x' is missing"
    assert found[-1]["best"] == {"trial": "0001", "score": 0.75}
    assert (found[-1]["ended"], found[-1]["total"]) == (2, 4)


def test_the_live_table_is_drawn_and_closed(plan, log):
    console = Console(file=io.StringIO(), width=100, force_terminal=True, markup=False)
    display = LiveTrials(plan, console, clock=lambda: 0.0)
    played(display, log)
    display.tick(log)
    display.close()
    display.close()
    assert "0.7500 (best)" in console.file.getvalue()


def test_the_stream_decides(plan):
    stream = io.StringIO()
    assert isinstance(display_for(plan, stream, as_json=True, quiet=False), JsonTrials)
    assert isinstance(display_for(plan, stream, as_json=False, quiet=False), PlainTrials)
    assert not isinstance(display_for(plan, stream, as_json=False, quiet=True), PlainTrials | JsonTrials)


def test_values_are_short():
    assert words.values({"rate": 0.00123456, "sizes": [1, 2], "part": {"a": "x" * 99}}).endswith("…")
    assert words.value(1e-5) == "1e-05"
    assert words.value(math.nan) == "nan"
