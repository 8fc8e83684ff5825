from __future__ import annotations

import re

import pytest

from trainwright_trainer.report.data import ConfusionMatrix, PredictedAgainstTrue
from trainwright_trainer.report.grids import DARKEST, confusion, predicted_against_true


def test_two_classes_show_shares_and_counts() -> None:
    made = confusion("late", ConfusionMatrix(["on time", "late"], [[47_120, 4_366], [9_554, 6_335]]))
    assert [">92 %<" in made, ">47,120<" in made, ">40 %<" in made, ">6,335<" in made] == [True] * 4
    assert ">true ↓<" in made
    assert ">predicted →<" in made


@pytest.mark.parametrize("classes", [2, 5, 6, 12, 13, 30])
def test_every_cell_with_rows_says_its_share(classes: int) -> None:
    counts = [[90 if i == j else 10 for j in range(classes)] for i in range(classes)]
    made = confusion("carrier", ConfusionMatrix([f"c{i}" for i in range(classes)], counts))
    assert made.count('class="cell"') == classes * classes
    assert len(re.findall(r'class="value( tiny| small)? ?">', made)) >= classes * classes


def test_a_class_without_rows_draws_nothing() -> None:
    made = confusion("carrier", ConfusionMatrix(["a", "b"], [[5, 0], [0, 0]]))
    assert made.count('class="cell"') == 1


def test_labels_are_short_and_escaped() -> None:
    made = confusion("x", ConfusionMatrix(["<i>" * 20, "b"], [[1, 1], [1, 1]]))
    assert "<i>" not in made
    assert "&lt;i&gt;&lt;i&gt;&lt;i&gt;&lt;…" in made


def test_ink_stays_readable_on_every_tint() -> None:
    made = confusion("x", ConfusionMatrix(["a", "b"], [[1, 0], [1, 1]]))
    assert max(float(tint) for tint in re.findall(r'fill-opacity="([\d.]+)"', made)) <= DARKEST


def test_predicted_against_true_puts_true_across_and_predicted_up() -> None:
    made = predicted_against_true("delay", PredictedAgainstTrue([0, 10, 20], [[0, 4], [0, 0]]))
    (cell,) = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" [^>]*class="cell"', made)
    assert cell == ("48", "24")  # the lower half of true, the upper half of predicted
    assert ">true delay<" in made
    assert ">predicted delay<" in made


def test_an_empty_histogram_is_still_a_figure() -> None:
    assert "<svg" in predicted_against_true("delay", PredictedAgainstTrue([0, 1], [[0]]))
