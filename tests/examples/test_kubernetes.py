"""The examples for a cluster: one model in all of them, and what they name is in the data that they say they read.

A real API server takes each of them in e2e/control_plane/test_examples.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from ruamel.yaml import YAML

from trainwright_api.checks import load

FILES = sorted((Path(__file__).resolve().parents[2] / "examples" / "kubernetes").glob("*.yaml"))
each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


def spec_of(path: Path) -> dict[str, Any]:
    return dict(YAML(typ="safe").load(path)["spec"])


CONFIG = spec_of(FILES[0].with_stem("local"))["config"]


@each_file
def test_it_is_valid_and_draws_no_notice(path: Path) -> None:
    assert load.load(path).notices == ()


@each_file
def test_it_learns_what_the_others_learn(path: Path) -> None:
    config = {key: value for key, value in spec_of(path)["config"].items() if key != "hyperopt"}
    assert config == CONFIG


def test_their_features_are_columns_of_flights(flights: Path) -> None:
    config = CONFIG
    named = {feature["name"] for feature in config["input_features"] + config["output_features"]}
    assert named | {config["preprocessing"]["split"]["column"]} <= set(pq.read_schema(flights).names)


def test_their_model_trains_on_flights(flights: Path, tmp_path: Path, run_python: Callable[..., str]) -> None:
    """On this machine: the same config, with data and run in folders. So few rows teach it little."""
    job = {"dataset": str(flights), "config": CONFIG}
    (tmp_path / "job.json").write_text(json.dumps(job))
    run_python("-m", "trainwright_trainer", "train", str(tmp_path / "job.json"), "--output", str(tmp_path / "run"))
    end = json.loads((tmp_path / "run" / "metrics.json").read_text())["end"]
    assert end["test"]["late"]["roc_auc"] is not None
