"""The documentation site: its pages, and that a broken link fails its build."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "docs/site/build.py"


def _module() -> Any:
    spec = importlib.util.spec_from_file_location("site_build", BUILD)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


build = _module()


def test_links_are_paths_in_the_repository() -> None:
    text = "[a](b.md) [c](../d/e.yaml#f) [g](https://h.i/j) [k](#l) [m](mailto:n@o.p)"
    assert list(build.linked("docs/page.md", text)) == ["docs/b.md", "d/e.yaml"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a:\n* b\n* c\n", "a:\n\n* b\n* c\n"),
        ("a:\n```\n* b\n| c |\n```\nd\n", "a:\n\n```\n* b\n| c |\n```\nd\n"),
        ("a:\n| b |\n|---|\n", "a:\n\n| b |\n|---|\n"),
        ("* b\n  c\n* d\n", "* b\n  c\n* d\n"),
    ],
)
def test_lists_tables_and_fences_begin_after_a_blank_line(text: str, expected: str) -> None:
    assert build.with_blank_lines(text) == expected


def test_every_page_of_the_repository_and_every_file_that_one_links_to_is_staged(tmp_path: Path) -> None:
    names = build.stage(pages=tmp_path)
    assert {"README.md", "docs/tutorial.md", "examples/flights/README.md", "examples/flights/flights.yaml"} <= {*names}
    assert (tmp_path / "docs/design.md").is_file()
    assert {"docs/site/extra.css", "docs/site/tables.js"} <= {*names}


def test_the_menu_has_every_page_of_docs() -> None:
    menu = (ROOT / "docs/site/mkdocs.yml").read_text()
    pages = {f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")}
    pages |= {f"examples/{path.parent.name}/README.md" for path in (ROOT / "examples").glob("*/README.md")}
    assert pages == set(re.findall(r": ((?:docs|examples)/\S+\.md)$", menu, re.MULTILINE))


def test_the_gallery_has_every_example() -> None:
    gallery = (ROOT / "docs/gallery.md").read_text()
    assert all(f"../examples/{path.name}/README.md" in gallery for path in (ROOT / "examples").iterdir())


def test_make_docs_builds_the_site_with_all_links_checked() -> None:
    ended = subprocess.run(["make", "docs"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr[-3000:]
    assert "WARNING" not in ended.stderr
    assert "Trainwright" in (ROOT / "build/site/html/index.html").read_text()
