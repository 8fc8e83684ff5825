"""Writing the generated files, and reporting the stale ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainwright_api.generate.__main__ import FILES, main

ROOT = Path(__file__).parents[3]


def test_the_committed_files_are_up_to_date() -> None:
    assert main(["--check"], ROOT) == 0


def test_a_stale_file_is_named_and_mended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in FILES:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    assert main(["--check"], tmp_path) == 1
    assert "docs/reference.md is stale: run `make generate`" in capsys.readouterr().err
    assert main([], tmp_path) == 0
    assert main(["--check"], tmp_path) == 0
