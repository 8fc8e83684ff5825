from __future__ import annotations

import re

from trainwright_trainer.features.distribution import Frequencies, Histogram
from trainwright_trainer.report.bars import MOST_NAMED, frequencies, histogram, tokens
from trainwright_trainer.report.data import TokenCounts


def test_a_histogram_names_its_ends() -> None:
    made = histogram("distance", Histogram("0", "300", [3, 9, 1]))
    assert re.findall(r">([^<]+)</text>", made) == ["0", "300"]
    assert made.count("<path") == 1


def test_what_has_no_bar_of_its_own_is_reported_in_one_line() -> None:
    values = [(f"c{i}", i) for i in range(9, -1, -1)]
    made = frequencies("carrier", Frequencies(values, rows=50))
    assert made.count('class="bar"') == MOST_NAMED
    assert re.findall(r">([^<]+)</text>", made)[-1] == "and 4 more values: 12 %"
    made = frequencies("carrier", Frequencies(values[:6], rows=100, more_values=1, more_rows=20))
    assert re.findall(r">([^<]+)</text>", made)[-1] == "and 1 more value: 20 %"
    assert "more" not in frequencies("carrier", Frequencies(values[:6], rows=100))


def test_a_token_has_the_share_of_the_rows_in_which_it_is_found() -> None:
    made = tokens("tags", TokenCounts(["red", "blue"], [4, 2], [3, 0], [3, 0]))
    assert re.findall(r">([^<]+)</text>", made) == ["red", "75 %", "blue", "0 %"]
    assert re.findall(r'width="([\d.]+)"', made) == ["148", "111", "74", "0"]


def test_no_rows_at_all() -> None:
    assert "<svg" in tokens("tags", TokenCounts(["a"], [0], [0], [0]))
    assert "<svg" in frequencies("carrier", Frequencies([("a", 0), ("b", 0)], rows=0))
    assert "<svg" in histogram("distance", Histogram("0", "1", [0]))
