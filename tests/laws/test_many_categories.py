"""A column with a million categories: its counts take little memory, and `most_common` of them are kept."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROWS, PART = 2_000_000, 100_000
MIB_OF_A_MILLION = 400
"""A text of 21 bytes, its count, and the Python objects of both take about 200 bytes."""

PROGRAM = """
import json, resource, sys
from trainwright_api.config import ModelConfig, resolve
from trainwright_trainer.data.preprocess import prepare

config = resolve(ModelConfig.model_validate(json.loads(sys.argv[1])))
statistics = prepare(config, sys.argv[2], seed=1, cache_dir=sys.argv[3]).statistics["c"]
print(len(statistics["vocabulary"]), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""
CONFIG = {
    "input_features": [{"name": "c", "type": "category"}],
    "output_features": [{"name": "y", "type": "number"}],
}


def prepared(folder: Path, categories: int) -> tuple[int, int]:
    """The size of the vocabulary, and the peak memory of the process in MiB."""
    draws, file = np.random.default_rng(0), folder / f"{categories}.parquet"
    with pq.ParquetWriter(file, pa.schema([("c", pa.string()), ("y", pa.float64())])) as writer:
        for _ in range(0, ROWS, PART):
            words = [f"customer-{number:012d}" for number in draws.integers(0, categories, PART)]
            writer.write_table(pa.table({"c": words, "y": draws.normal(size=PART)}))
    arguments = [json.dumps(CONFIG), str(file), str(folder / f"cache-{categories}")]
    ended = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    vocabulary, peak = map(int, ended.stdout.split())
    return vocabulary, peak


@pytest.mark.slow
def test_a_million_categories_take_little_memory(tmp_path: Path) -> None:
    few, of_few = prepared(tmp_path, 1_000)
    many, of_many = prepared(tmp_path, 1_000_000)
    assert (few, many) == (1_001, 10_001)
    assert of_many - of_few < MIB_OF_A_MILLION
