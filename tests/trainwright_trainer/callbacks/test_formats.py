from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainwright_trainer.callbacks import formats


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.0 s"),
        (0.44, "0.4 s"),
        (9.96, "10 s"),
        (31.2, "31 s"),
        (59.6, "0:01:00"),
        (3723, "1:02:03"),
        (math.nan, "–"),
    ],
)
def test_durations_are_human(seconds: float, text: str) -> None:
    assert formats.duration(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0:00:00"), (0.2, "0:00:01"), (24, "0:00:24"), (90_061, "25:01:01"), (math.nan, "-:--:--")],
)
def test_time_left_is_rounded_up(seconds: float, text: str) -> None:
    assert formats.clock(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0.0 ms"), (0.00042, "0.4 ms"), (0.0482, "48 ms"), (0.9994, "999 ms"), (0.9996, "1.0 s"), (75, "0:01:15")],
)
def test_a_step_is_reported_in_thousandths(seconds: float, text: str) -> None:
    assert formats.part_of_step(seconds) == text


@pytest.mark.parametrize(
    ("size", "text"), [(812_400_000, "812 MB"), (999_600_000, "1.0 GB"), (81_000_000_000, "81 GB")]
)
def test_memory_has_two_or_three_digits(size: int, text: str) -> None:
    assert formats.memory(size) == text


@pytest.mark.parametrize(
    ("rate", "text"),
    [(0, "0"), (812.4, "812"), (999.6, "1.0k"), (9_512, "9.5k"), (201_300, "201k"), (999_600, "1.0M"), (2.5e9, "2.5G")],
)
def test_rates_have_two_or_three_digits(rate: float, text: str) -> None:
    assert formats.rate(rate) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0.0000"),
        (0.74213, "0.7421"),
        (-0.5, "-0.5000"),
        (1, "1.000"),
        (48.3149, "48.31"),
        (12_345.6, "12,346"),
        (0.0000321, "3.2e-05"),
        (1.5e12, "1.500e+12"),
        (math.inf, "–"),
    ],
)
def test_scores_have_sensible_digits(value: float, text: str) -> None:
    assert formats.score(value) == text


@pytest.mark.parametrize(
    ("fraction", "text"), [(0.0, "0 %"), (0.0004, "< 0.1 %"), (0.0123, "1.2 %"), (0.683, "68 %"), (1.0, "100 %")]
)
def test_percents_of_the_report(fraction: float, text: str) -> None:
    assert formats.percent(fraction) == text


def test_a_share_is_not_whole_before_the_end() -> None:
    assert [formats.share(value) for value in (0.0, 0.29, 0.9999, 1.0, math.nan)] == [
        "0 %",
        "29 %",
        "99 %",
        "100 %",
        "–",
    ]


def test_counted_knows_one_from_many() -> None:
    assert formats.counted(1, "process") == "1 process"
    assert formats.counted(2, "process") == "2 processes"
    assert formats.counted(1_024, "row") == "1,024 rows"


@pytest.mark.parametrize("metric", ["loss", "mean_squared_error", "root_mean_squared_percentage_error", "perplexity"])
def test_errors_should_fall(metric: str) -> None:
    assert formats.lower_is_better(metric)


@pytest.mark.parametrize("metric", ["accuracy", "roc_auc", "r2", "hits_at_k"])
def test_scores_should_rise(metric: str) -> None:
    assert not formats.lower_is_better(metric)


@given(st.lists(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=30)), st.integers(5, 60))
def test_wrapped_lines_fit_and_lose_no_item(items: list[str], width: int) -> None:
    lines = formats.wrap(items, width)
    assert all(len(line) <= width for line in lines)
    assert " · ".join(lines).count(" · ") == max(0, len(items) - 1)


def test_what_a_stream_cannot_encode_is_replaced_sign_for_sign() -> None:
    text = "epoch 3 · loss 0.43 ▼ → é…"
    assert formats.encodable(text, "utf-8") == text
    assert formats.encodable(text, "ascii") == "epoch 3 - loss 0.43 v > ?."


def test_control_characters_do_not_reach_the_terminal() -> None:
    assert formats.encodable("a\x1b[2Jb\rc\nd\te", "utf-8") == "a?[2Jb?c?d?e"
