"""The tables of the benchmarks, from given measurements."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bench import results


@pytest.mark.parametrize(
    ("value", "goal", "holds"),
    [(1.05, "≤ 1.05", True), (1.06, "≤ 1.05", False), (0.94, "≥ 0.95", False), (0.0, "= 0", True), (2.0, "= 0", False)],
)
def test_a_goal_is_a_relation_to_a_number(value: float, goal: str, holds: bool) -> None:
    assert results.result(value, "s", goal)["holds"] is holds


def test_without_a_goal_nothing_holds_or_fails() -> None:
    assert results.result(3.14159, "s") == {"value": 3.142, "unit": "s", "goal": None, "holds": None}


def test_large_numbers_lose_their_decimals() -> None:
    assert results.rounded(201_234.56) == 201_235


def test_record_keeps_what_other_benchmarks_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, readme = tmp_path / "results.json", tmp_path / "README.md"
    book = results.Book(file, "<!-- begin -->")
    readme.write_text(f"before\n{book.begin}\nold\n{results.END}\nafter\n")
    results.record({"a": results.result(1, "s")}, book, readme)
    results.record({"b": results.result(2, "s", "≤ 1")}, book, readme)
    assert list(json.loads(file.read_text())) == ["a", "b"]
    assert "| b | 2 s | ≤ 1 | **no** |" in readme.read_text()
    assert readme.read_text().startswith("before\n")
    assert readme.read_text().endswith(f"{results.END}\nafter\n")
    assert "MISSED" in capsys.readouterr().out


def test_each_book_has_a_table_of_its_own() -> None:
    text = "".join(f"{book.begin}\nold\n{results.END}\n" for book in (results.TRAINER, results.OPERATOR))
    changed = results.with_table(text, {"a": results.result(1, "s")}, results.OPERATOR)
    trainers, operators = changed.split(results.OPERATOR.begin)
    assert "old" in trainers
    assert "| a | 1 s |" in operators
    assert "| a " not in trainers


def test_a_readme_without_markers_is_refused() -> None:
    with pytest.raises(ValueError, match="markers"):
        results.with_table("nothing", {})
