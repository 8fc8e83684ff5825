"""Configs and data sets for the tests in this folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from trainwright_api.config import ModelConfig, resolve


@pytest.fixture
def config():
    """A resolved config. A feature is a text `name:type`, or a pair of it and a dictionary of preprocessing options."""

    def make(inputs: list[Any], outputs: list[Any], **preprocessing: Any) -> ModelConfig:
        raw: dict[str, Any] = {
            "input_features": [_feature(item) for item in inputs],
            "output_features": [_feature(item) for item in outputs],
            "preprocessing": preprocessing,
        }
        return resolve(ModelConfig.model_validate(raw))

    return make


def _feature(item: Any) -> dict[str, Any]:
    word, options = item if isinstance(item, tuple) else (item, {})
    name, kind = word.split(":")
    return {"name": name, "type": kind, "preprocessing": options} if options else {"name": name, "type": kind}


@pytest.fixture
def parquet(tmp_path):
    """Writes columns as a Parquet file and returns its path."""

    def write(columns: dict[str, Any], name: str = "data.parquet", **options: Any) -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(columns), path, **options)
        return str(path)

    return write


@pytest.fixture
def text(tmp_path):
    """Writes a text file and returns its path."""

    def write(content: str | bytes, name: str) -> str:
        path: Path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


@pytest.fixture
def columns():
    """200 rows of five types with gaps, and a target."""
    rows = range(200)
    return {
        "n": [None if row % 17 == 0 else row * 0.5 for row in rows],
        "c": [None if row % 13 == 0 else f"class {row % 3}" for row in rows],
        "b": [None if row % 11 == 0 else row % 2 == 0 for row in rows],
        "d": [None if row % 19 == 0 else f"2024-01-{row % 28 + 1:02d}" for row in rows],
        "v": [None if row % 23 == 0 else [float(row), 1.0] for row in rows],
        "y": [row % 5 == 0 for row in rows],
    }


INPUTS = ["n:number", "c:category", "b:binary", "d:date", "v:vector"]


@pytest.fixture
def usual(config):
    """A config for `columns` with features of all five types."""

    def make(**preprocessing: Any) -> ModelConfig:
        return config(INPUTS, ["y:binary"], **preprocessing)

    return make
