from __future__ import annotations

from dataclasses import replace

import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.errors import EnvironmentFailure, Outcome
from trainwright_trainer.tasks.card import Card, compare

CARD = Card("a", "job", (("torch", "2.15"), ("trainwright", "0.1")), "code")


def line_of(*cards):
    with pytest.raises(Mistakes) as found:
        compare(cards)
    return str(found.value)


def test_equal_cards():
    compare([CARD, replace(CARD, host="b")])
    compare([replace(CARD, gpu="0"), replace(CARD, gpu="1"), replace(CARD, host="b", gpu="0")])


@pytest.mark.parametrize(
    ("other", "line"),
    [
        ({"job": "another"}, "rank 1 (b) sees another file, or other options, than rank 0 (a)"),
        ({"code": "older"}, "rank 1 (b) and rank 0 (a) have different code of trainwright: install the same"),
        (
            {"versions": (("torch", "2.14"), ("trainwright", "0.1"))},
            "rank 1 (b) has torch 2.14, rank 0 (a) has 2.15: install one version",
        ),
    ],
)
def test_what_differs(other, line):
    assert line_of(CARD, replace(CARD, host="b", **other)) == line


def test_two_ranks_on_one_gpu():
    cards = [replace(CARD, gpu="0"), replace(CARD, gpu="0")]
    assert line_of(*cards) == (
        "ranks 0 and 1 would share one GPU of a: start one process for each GPU, or set backend.trainer.use_gpu: false"
    )


def test_a_mistake_that_only_another_rank_sees_names_it():
    mistake = Outcome.of(Mistakes.one("", "cannot be read: no such file"))
    assert line_of(CARD, replace(CARD, job=None, outcome=mistake)) == "cannot be read: no such file (rank 1)"


def test_another_failure_keeps_its_class():
    failed = replace(CARD, outcome=Outcome("environment", "no memory"))
    with pytest.raises(EnvironmentFailure, match="no memory"):
        compare([CARD, failed])
