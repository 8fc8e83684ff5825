"""The line with the missing cells of all columns."""

from __future__ import annotations

from trainwright_trainer.data.missing_cells import missing_line


def test_the_columns_with_the_most_stand_first():
    assert missing_line({"plan": 204, "age": 1_000}, " in x") == "missing cells in x: 1,204 (age 1,000, plan 204)"


def test_of_many_columns_a_few_are_named():
    line = missing_line({f"c{number}": 1 for number in range(1_010)})
    assert line == "missing cells: 1,010 (c0 1, c1 1, c2 1, c3 1, c4 1, c5 1, c6 1, c7 1 and 1,002 more columns)"
