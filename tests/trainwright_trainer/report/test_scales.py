from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainwright_trainer.report.scales import Scale, fitted, steps, tick_label, whole_steps

NUMBERS = st.floats(-1e9, 1e9, allow_nan=False).map(lambda value: round(value, 6))


def test_a_scale_maps_its_ends_to_the_ends_of_the_drawing() -> None:
    scale = Scale(0, 10, 200, 20)
    assert [scale(0), scale(5), scale(10)] == [200, 110, 20]


def test_a_logarithmic_scale_gives_decades_the_same_room() -> None:
    scale = Scale(1, 10_000, 0, 400, log=True)
    assert [scale(1), scale(100), scale(10_000)] == pytest.approx([0, 200, 400])
    assert scale.ticks() == [1, 10, 100, 1000, 10_000]


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0.0003, 0.004, [0.0005, 0.001, 0.002]), (0.9, 11, [1, 10]), (2.1, 4.2, [2.5, 3, 3.5, 4])],
)
def test_a_logarithmic_scale_of_few_decades_has_ticks_between_them(
    low: float, high: float, expected: list[float]
) -> None:
    assert Scale(low, high, 0, 1, log=True).ticks() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0.402, 0.61, [0.45, 0.5, 0.55, 0.6]),
        (-60, 420, [0, 100, 200, 300, 400]),
        (1, 100, [20, 40, 60, 80, 100]),
    ],
)
def test_ticks_are_round(low: float, high: float, expected: list[float]) -> None:
    assert steps(low, high, 5) == pytest.approx(expected)


def test_epochs_have_whole_ticks() -> None:
    assert whole_steps(0.5, 1.5, 6) == [1]
    assert whole_steps(1, 3, 6) == [1, 2, 3]


@pytest.mark.parametrize(
    ("ticks", "texts"),
    [
        ([0, 0.25, 0.5], ["0.00", "0.25", "0.50"]),
        ([0.4, 0.6], ["0.4", "0.6"]),
        ([0, 5_000, 10_000], ["0", "5,000", "10,000"]),
        ([0, 100_000, 200_000], ["0", "100k", "200k"]),
        ([0.00001, 0.00002], ["1e-5", "2e-5"]),
        ([-100, 0, 100], ["-100", "0", "100"]),
    ],
)
def test_tick_labels_have_the_digits_they_need(ticks: list[float], texts: list[str]) -> None:
    assert [tick_label(tick, ticks) for tick in ticks] == texts


@given(st.lists(NUMBERS, min_size=1, max_size=20))
def test_every_value_lies_inside_the_drawing(values: list[float]) -> None:
    scale = fitted(values, 180, 20)
    assert all(19.9 <= scale(value) <= 180.1 for value in values)
    assert scale.low < scale.high


@given(NUMBERS, st.floats(1e-3, 1e6), st.integers(2, 8))
def test_ticks_are_few_and_inside(low: float, span: float, wanted: int) -> None:
    ticks = steps(low, low + span, wanted)
    assert len(ticks) <= wanted + 1
    assert all(low - span * 1e-6 <= tick <= low + span * 1.000001 for tick in ticks)


def test_a_wide_range_is_logarithmic_and_a_mixed_one_is_not() -> None:
    assert fitted([0.001, 50], 0, 1).log
    assert not fitted([-1, 50], 0, 1).log
    assert not fitted([0.4, 0.6], 0, 1).log


def test_nothing_but_nan_still_has_a_scale() -> None:
    assert fitted([math.nan], 0, 1).low < fitted([math.nan], 0, 1).high


@pytest.mark.parametrize("log", [True, False])
def test_numbers_that_differ_by_less_than_a_float_holds_are_in_the_middle(log: bool) -> None:
    scale = Scale(1e17 - 0.5, 1e17 + 0.5, 0, 300, log=log)
    assert scale(1e17) == 150
    assert scale.label(scale.ticks()[0]) == "1e+17"
