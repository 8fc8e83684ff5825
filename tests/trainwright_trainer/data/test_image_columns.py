"""Images as bytes can take a megabyte a row, so every read of their data set has small blocks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from trainwright_api.config import ModelConfig, resolve
from trainwright_trainer.data import source
from trainwright_trainer.data.datasets import DataFiles
from trainwright_trainer.data.files import Files, find
from trainwright_trainer.data.image_columns import look_at_files, with_files
from trainwright_trainer.data.rows import IMAGE_BLOCK_ROWS
from trainwright_trainer.data.selection import features_of
from trainwright_trainer.job.job import read_job
from trainwright_trainer.job.options import Options
from trainwright_trainer.suggest.profile import profile_of
from trainwright_trainer.tasks.job_data import raw_data

ROWS = 2 * IMAGE_BLOCK_ROWS + 10
CONFIG = {
    "input_features": [{"name": "picture", "type": "image"}],
    "output_features": [{"name": "y", "type": "binary"}],
}


@pytest.fixture
def files(tmp_path: Path) -> Files:
    table = pa.table(
        {"picture": [b"\xff\xd8\xff%d" % row for row in range(ROWS)], "y": [row % 2 for row in range(ROWS)]}
    )
    pyarrow.parquet.write_table(table, tmp_path / "pictures.parquet")
    return find(str(tmp_path / "pictures.parquet"))


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows of the blocks that were read."""
    read, found = source.blocks, list[int]()

    def spied(*given: Any) -> Iterator[Any]:
        for block in read(*given):
            found.append(block.rows)
            yield block

    monkeypatch.setattr(source, "blocks", spied)
    return found


def test_the_look_at_the_files(files: Files, sizes: list[int]) -> None:
    look_at_files(with_files(features_of(resolve(ModelConfig.model_validate(CONFIG))), files.storage, None), files)
    assert sum(sizes) == ROWS
    assert max(sizes) == IMAGE_BLOCK_ROWS


def test_the_profile_of_init(files: Files, sizes: list[int]) -> None:
    assert profile_of(DataFiles(files), "y").rows == ROWS
    assert max(sizes) == IMAGE_BLOCK_ROWS


def test_the_raw_rows_of_a_report(files: Files, sizes: list[int], tmp_path: Path) -> None:
    job = read_job(
        "train",
        tmp_path / "job.json",
        Options(dataset=str(files.storage.root / files.names[0])),
        text=json.dumps({"config": CONFIG}),
    )
    assert sum(block.rows for block in raw_data(job).blocks()) == sum(sizes) == ROWS
    assert max(sizes) == IMAGE_BLOCK_ROWS
