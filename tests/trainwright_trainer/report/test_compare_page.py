from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from trainwright_trainer.report.compare_page import render
from trainwright_trainer.report.runs import RunRecord

from .test_in_browser import Visit, browser  # noqa: F401
from .test_page import Outline
from .test_runs import RESOLVED, record

LONG = "a_name_without_a_single_space_" * 5


def words(runs: list[RunRecord]) -> str:
    return " | ".join(word.strip() for word in Outline(render(runs)).words if word.strip())


def many() -> list[RunRecord]:
    runs = [record(f"r{i}", auc=0.5 + i / 100, resolved={**RESOLVED, "seed": i}) for i in range(8)]
    return [*runs, record(LONG, resolved={**RESOLVED, "seed": "<script>alert('x')</script>"})]


def test_it_opens_with_the_best_run() -> None:
    found = words([record("a", 0.7), record("b", 0.8)])
    assert "y.roc_auc 0.8000 | by | b | The next is a: 0.7000. Scores of test rows." in found
    assert "test y.roc_auc | 0.7000 | 0.8000" in found
    assert "All settings are equal." in found


def test_the_best_of_a_line_is_bold() -> None:
    page = render([record("a", 0.7), record("b", 0.8)])
    assert re.search(r"test y.roc_auc</th><td>0.7000</td><td><b>0.8000</b>", page)


def test_a_run_that_trains_has_no_test_scores() -> None:
    found = words([record("a"), record("b", test={}, seconds=math.nan, state="not ended")])
    assert "state | done | not ended" in found
    assert "test y.accuracy | 0.8000 | –" in found


def test_each_metric_has_a_line_for_each_run() -> None:
    page = render([record("a"), record("b"), replace(record("c"), rounds=[])])
    chart = page[page.index("y.roc_auc by epoch</title>") :].partition("</svg>")[0]
    assert chart.count("line series") == 2
    assert chart.count("series1") == 1


def test_differences_have_a_column_for_each_run() -> None:
    found = words([record("a"), record("b", resolved={**RESOLVED, "seed": 43})])
    assert "seed | 42 | 43" in found


def test_it_is_well_formed_and_asks_for_nothing() -> None:
    page = render(many())
    outline = Outline(page)
    assert outline.open == []
    assert "script" not in [tag for tag, _ in outline.tags]
    assert "http:" not in page
    assert "https:" not in page
    assert "3 runs with worse scores not drawn." in page


@pytest.mark.parametrize("width", [390, 1280])
def test_it_does_not_scroll_sideways(browser: Browser, tmp_path: Path, width: int) -> None:  # noqa: F811
    path = tmp_path / "compare.html"
    path.write_text(render(many()), encoding="utf-8")
    visit = Visit(browser.new_page(viewport={"width": width, "height": 844}), path)
    assert visit.page.evaluate("document.documentElement.scrollWidth") == width
    assert (visit.requests, visit.messages) == ([path.as_uri()], [])
    visit.page.close()
