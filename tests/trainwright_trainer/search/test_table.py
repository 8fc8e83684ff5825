"""The table of the trials, as it is in terminals of several widths."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from trainwright_trainer.search.table import picture
from trainwright_trainer.search.words import SearchPlan, short_names

NAMES = ("trainer.learning_rate", "kind.encoder.type", "combiner.fc_layers")
VALUES = {"trainer.learning_rate": 0.1, "kind.encoder.type": "a [b]", "combiner.fc_layers": [{"output_size": 8}] * 9}


def lines(plan, trials, width):
    console = Console(file=io.StringIO(), width=width, markup=False)
    console.print(picture(plan, trials, 10.0, width))
    return console.file.getvalue().splitlines()


@pytest.fixture
def shown(objective, log):
    """The lines of three trials in a terminal of a width: one is done, one has failed, one runs."""
    for _ in range(3):
        log.add(VALUES, {})
    log.add_score("0001", round_=1, epoch=0, step=5, value=0.75, seconds=1.5)
    log.end("0001", "done")
    log.end("0002", "failed", "column 'x' is missing", mistake=True)
    plan = SearchPlan("job", objective, NAMES, 4, 60.0, 2, "random", "asha")
    return lambda width: lines(plan, log.trials, width)


def test_running_trials_come_first_and_the_best_is_marked(shown):
    head, *rows, last = shown(100)
    assert head.split() == ["trial", "state", "epoch", "roc_auc", "learning_rate", "type", "fc_layers"]
    assert [row.split()[:2] for row in rows] == [["0003", "running"], ["0001", "done"], ["0002", "failed"]]
    assert "0.7500 (best)" in rows[1]
    assert "a [b]" in rows[1]
    assert last == "2/4 trials · 10 s · 0:00:10 left"


@pytest.mark.parametrize(("width", "there"), [(61, ["learning_rate", "type"]), (53, ["learning_rate"])])
def test_parameters_without_room_are_counted_and_no_cell_is_broken(shown, width, there):
    head, *rows = shown(width)
    assert head.split()[4:] == there
    assert [row.split()[0] for row in rows[:3]] == ["0003", "0001", "0002"]
    assert f"· {3 - len(there)} more parameter" in " ".join(rows[3:])


def test_the_end_of_a_path_is_as_long_as_it_has_to_be():
    names = ["trainer.learning_rate", "a.encoder.type", "b.encoder.type", "x.y", "y", "."]
    assert list(short_names(names).values()) == ["learning_rate", "a.encoder.type", "b.encoder.type", "x.y", "y", "."]
    assert short_names(["a.type", "combiner.type"]) == {"a.type": "a.type", "combiner.type": "combiner.type"}
