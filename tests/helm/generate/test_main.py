"""The files that are generated from the chart, manifests included, are up to date."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from helm.generate.__main__ import main

ROOT = Path(__file__).parents[3]


def test_the_committed_files_are_up_to_date() -> None:
    assert main(["--check"], ROOT) == 0


def test_a_changed_default_makes_stale_what_shows_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in ("crds", "helm", "operator/manifests", "tests/helm"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("*.py*"))
    values = tmp_path / "helm" / "trainwright" / "values.yaml"
    values.write_text(values.read_text().replace("maxWorkers: 64", "maxWorkers: 65"))
    assert main(["--check"], tmp_path) == 1
    stale = {line.partition(" ")[0] for line in capsys.readouterr().err.splitlines()}
    assert stale == {
        "helm/trainwright/README.md",
        "operator/manifests/clusterwide.yaml",
        "operator/manifests/namespaced.yaml",
    }
    assert main([], tmp_path) == 0
    assert main(["--check"], tmp_path) == 0
