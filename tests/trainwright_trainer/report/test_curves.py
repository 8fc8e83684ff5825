from __future__ import annotations

import math
import re

from trainwright_trainer.report.curves import MOST_POINTS, Curve, figure, thinned

LINE = [(float(epoch), 1 / epoch) for epoch in range(1, 11)]


def test_train_and_validation_differ_without_colour() -> None:
    made = figure("loss by epoch", "loss", [Curve("train", LINE), Curve("validation", LINE)], 4.0)
    assert 'class="line train"' in made
    assert 'class="line validation"' in made
    assert ">train</text>" in made
    assert ">validation</text>" in made
    assert ">best: epoch 4</text>" in made


def test_a_logarithmic_axis_says_so() -> None:
    assert ">loss (logarithmic)</text>" in figure("loss", "loss", [Curve("train", [(1.0, 900.0), (2.0, 1.0)])], None)


def test_a_best_round_within_an_epoch_has_one_digit() -> None:
    assert ">best: epoch 1.5</text>" in figure("loss", "loss", [Curve("train", LINE)], 1.506)


def test_one_round_is_a_dot() -> None:
    made = figure("loss by epoch", "loss", [Curve("validation", LINE[:1])], 1.0)
    assert 'class="line' not in made
    assert made.count('class="dot validation"') == 1


def test_many_rounds_have_no_dots() -> None:
    many = [(float(epoch), 1 / epoch) for epoch in range(1, 101)]
    assert "dot" not in figure("loss", "loss", [Curve("train", many)], None)


def test_nan_is_left_out() -> None:
    made = figure("auc", "auc", [Curve("validation", [(1.0, math.nan), (2.0, 0.5), (3.0, math.inf), (4.0, 0.6)])], None)
    assert "nan" not in made
    assert "inf" not in made.replace("infinity", "")


def test_no_number_at_all_leaves_the_axes() -> None:
    assert "<svg" in figure("auc", "auc", [], None)


def test_long_histories_are_thinned_but_keep_the_last_and_the_best() -> None:
    many = [(float(epoch), 1.0) for epoch in range(5000)]
    kept = thinned(many, 1234.0)
    assert len(kept) <= MOST_POINTS + 2
    assert (1234.0, 1.0) in kept
    assert kept[-1] == many[-1]


def test_everything_lies_in_the_drawing() -> None:
    made = figure("loss", "loss", [Curve("train", LINE)], 10.0)
    path = re.search(r'd="M([^"]+)"', made)
    assert path
    points = [tuple(map(float, point.split())) for point in path[1].split("L")]
    assert all(0 <= x <= 340 and 0 <= y <= 220 for x, y in points)
