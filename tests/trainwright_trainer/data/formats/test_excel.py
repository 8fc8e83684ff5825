from __future__ import annotations

import sys
from datetime import date, datetime

from tests.workbook import write_workbook

from .reading import MOMENT, mistake_of, read


def workbook(path, *rows):
    return write_workbook(path, rows)


def test_a_workbook(tmp_path):
    day = date(2024, 1, 2)
    path = workbook(
        tmp_path / "x.xlsx",
        ["n", "t", "day", "flag", "mixed", 2024, "gap"],
        [1, "a", day, True, 1, 0.5, None],
        [2.5, None, MOMENT, False, "x", None, None],
        [None, "c", None, None, True, 3, None],
    )
    assert read(path, ["n", "t", "day", "flag", "mixed", "2024", "gap"]) == {
        "n": [1, 2.5, None],
        "t": ["a", None, "c"],
        "day": [datetime(2024, 1, 2), MOMENT, None],
        "flag": [True, False, None],
        "mixed": ["1", "x", "true"],
        "2024": [0.5, None, 3],
        "gap": [None] * 3,
    }
    assert "column: 'N' is not in x.xlsx. Nearest: 'n'" in mistake_of(path, ["N"])
    assert read(workbook(tmp_path / "y.xlsx", ["n"]), ["n"]) == {"n": []}
    assert mistake_of(workbook(tmp_path / "z.xlsx")) == "dataset: 'z.xlsx' is empty: its first sheet has no value."


def test_without_the_extra_the_command_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    line = "reading Excel needs one more package: pip install 'trainwright[excel]', or save 'x.xlsx' as CSV"
    assert mistake_of(workbook(tmp_path / "x.xlsx", ["n"]), ["n"]) == f"dataset: {line}"
