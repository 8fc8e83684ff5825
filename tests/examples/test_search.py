"""The search of examples/hyperopt, with two trials of two epochs each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from ruamel.yaml import YAML


@pytest.mark.usefixtures("flights")
def test_it_searches_to_its_end(project: Path, run_python: Callable[..., str]) -> None:
    job = YAML(typ="safe").load(project / "examples" / "hyperopt" / "flights.yaml")
    config = job["spec"]["config"]
    assert len(config["hyperopt"]["parameters"]) == 5
    assert config["hyperopt"]["executor"]["num_samples"] == 12
    config["trainer"]["epochs"] = 2
    config["hyperopt"]["executor"]["num_samples"] = 2
    (project / "search.json").write_text(json.dumps(job))
    out = run_python("-m", "trainwright_trainer", "hyperopt", "search.json", "--output", "out/search")
    assert "best trial 000" in out
    found = json.loads((project / "out" / "search" / "hyperopt.json").read_text())
    assert found["ended"] == 2
    assert all(0 < row["score"] < 1 for row in found["trials"])
    assert (project / "out" / "search" / "model" / "model.json").is_file()
