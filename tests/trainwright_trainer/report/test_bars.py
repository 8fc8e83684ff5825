from __future__ import annotations

from trainwright_trainer.report.bars import MOST_NAMED, histogram, named


def test_a_histogram_names_its_ends() -> None:
    made = histogram("distance", [("0", 3), ("100", 9), ("200", 1)])
    assert ">0</text>" in made
    assert ">200</text>" in made
    assert ">100</text>" not in made
    assert made.count("<path") == 1


def test_named_bars_are_sorted_and_the_rest_is_told() -> None:
    made = named("carrier", [(f"c{i}", i) for i in range(10)])
    assert made.index(">c9<") < made.index(">c8<")
    assert made.count('class="bar"') == MOST_NAMED
    assert ">and 4 more: 13 %<" in made


def test_no_rows_at_all() -> None:
    assert "<svg" in named("carrier", [("a", 0), ("b", 0)])
    assert "<svg" in histogram("distance", [("0", 0)])
