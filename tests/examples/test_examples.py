"""Every YAML file under examples/ is valid and trains. A new file is found by itself.

A bare Ludwig config names no data: those of its folder have a line in `DATA`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from trainwright_api.checks import load

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FILES = sorted(path for path in EXAMPLES.rglob("*.yaml") if path.parent.name not in ("kubernetes", "entrypoint"))
"""Those of a cluster name places that only a cluster has; a real API server judges them. `test_entrypoint.py` runs the
train functions."""
DATA = {"small": "examples/small/weather.csv"}
each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(EXAMPLES)))


def keys_of(path: Path) -> set[str]:
    return set(YAML(typ="safe").load(path))


def data_of(path: Path) -> str | None:
    """Return the argument of --dataset, for a file without a data set."""
    return DATA[path.parent.name] if "input_features" in keys_of(path) else None


def test_there_are_examples_of_all_three_forms() -> None:
    forms = [keys_of(path) for path in FILES]
    assert any("apiVersion" in form for form in forms)
    assert any("config" in form for form in forms)
    assert any("input_features" in form for form in forms)


@each_file
def test_is_valid_and_draws_no_notice(path: Path) -> None:
    loaded = load.load(path, dataset=data_of(path))
    assert loaded.notices == ()


@pytest.mark.usefixtures("flights", "docstrings", "digits", "lines")
@each_file
def test_trains_to_its_end(path: Path, project: Path, run_python: Callable[..., str]) -> None:
    name, data = path.relative_to(EXAMPLES), data_of(path)
    run = project / "out" / name.with_suffix("")
    named = [] if data is None else ["--dataset", data]
    run_python("-m", "trainwright_trainer", "train", f"examples/{name}", "--output", str(run), *named)
    end = json.loads((run / "metrics.json").read_text())["end"]
    assert all(score is not None for scores in end["test"].values() for score in scores.values())
    assert (run / "report.html").stat().st_size > 0
