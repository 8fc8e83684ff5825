"""The report in a real browser: Debian's chromium, driven by playwright."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from trainwright_trainer.report import page as report
from trainwright_trainer.report.data import ReportData

Make = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.fail("there is no chromium on this machine: run `make browser`", pytrace=False)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


class Visit:
    """A page that is open, and what the browser had to say about it."""

    def __init__(self, page: Page, path: Path) -> None:
        self.page = page
        self.requests: list[str] = []
        self.messages: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.messages.append(message.text))
        page.on("pageerror", lambda error: self.messages.append(str(error)))
        page.goto(path.as_uri())


@pytest.fixture
def written(tmp_path: Path, any_report: ReportData) -> Path:
    (tmp_path / "report.html").write_text(report.render(any_report))
    return tmp_path / "report.html"


@pytest.mark.parametrize("width", [390, 1280])
def test_it_is_quiet_and_never_scrolls_sideways(browser: Browser, written: Path, width: int) -> None:
    visit = Visit(browser.new_page(viewport={"width": width, "height": 844}), written)
    page = visit.page
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.evaluate("document.body.scrollWidth") <= width
    assert visit.requests == [written.as_uri()]
    assert visit.messages == []
    assert written.stat().st_size <= 2_000_000
    page.close()


def test_no_figure_is_cut_in_print(browser: Browser, written: Path) -> None:
    page = browser.new_page(viewport={"width": 680, "height": 1000})
    page.goto(written.as_uri())
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") == 680
    cut = (
        "[...document.querySelectorAll('figure, .card, table')].filter(e => getComputedStyle(e).breakInside != 'avoid')"
    )
    assert page.evaluate(f"{cut}.length") == 0
    tall = "Math.max(0, ...[...document.querySelectorAll('figure')].map(e => e.getBoundingClientRect().height))"
    assert page.evaluate(tall) < 1000
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_ink_stands_out_from_paper(browser: Browser, tmp_path: Path, make_report: Make, scheme: str) -> None:
    written = tmp_path / "report.html"
    written.write_text(report.render(make_report()))
    page = browser.new_page(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(written.as_uri())
    assert (
        page.evaluate(
            _CONTRAST, ["--ink", "--quiet", "--accent", "--second", "--third", "--fourth", "--fifth", "--sixth"]
        )
        >= 4.5
    )
    page.close()


# The least WCAG contrast of these colours against the paper.
_CONTRAST = """names => {
  const style = getComputedStyle(document.documentElement), probe = document.createElement('i');
  document.body.append(probe);
  const light = name => {
    probe.style.color = style.getPropertyValue(name);
    const part = c => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = getComputedStyle(probe).color.match(/[\\d.]+/g).map(Number).map(part);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  return Math.min(...names.map(name => ratio(light(name), light('--paper'))));
}"""


def test_the_config_is_unfolded_in_print_alone(browser: Browser, tmp_path: Path, make_report: Make) -> None:
    (tmp_path / "report.html").write_text(report.render(make_report()))
    page = browser.new_page()
    page.goto((tmp_path / "report.html").as_uri())
    height = "document.querySelector('details').getBoundingClientRect().height"
    folded = page.evaluate(height)
    page.emulate_media(media="print")
    assert page.evaluate(height) > 3 * folded
    page.close()


def test_bars_and_names_of_the_importance_do_not_overlap(browser: Browser, tmp_path: Path, make_report: Make) -> None:
    (tmp_path / "report.html").write_text(report.render(make_report()))
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto((tmp_path / "report.html").as_uri())
    assert page.evaluate(_OVERLAPS) == []
    page.close()


# Bars of the first chart of importance that a text of the same chart covers, and texts outside of the chart.
_OVERLAPS = """() => {
  const chart = [...document.querySelectorAll('section')].find(s => s.textContent.startsWith('Importance'))
    .querySelector('svg');
  const box = e => e.getBoundingClientRect(), whole = box(chart);
  const texts = [...chart.querySelectorAll('text')], bars = [...chart.querySelectorAll('rect')];
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const out = t => box(t).right > whole.right + 1 || box(t).left < whole.left - 1;
  return [...texts.filter(out), ...texts.filter(t => bars.some(b => meet(box(t), box(b))))].map(t => t.textContent);
}"""
