"""Every processor gives the same columns and statistics, bit for bit, for generated data of every kind."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests import modin_ray

from trainwright_api.config import ModelConfig, resolve
from trainwright_api.problems import Mistakes
from trainwright_trainer.data.preprocess import prepare
from trainwright_trainer.frames.dask import DaskProcessor
from trainwright_trainer.frames.interface import Processor
from trainwright_trainer.frames.pandas import PandasProcessor

HAS_MODIN = find_spec("modin") is not None
"""In the environment of `make test-modin`."""
PROCESSORS: dict[str, Processor] = {
    "pandas": PandasProcessor(2),
    "pandas, reading again": PandasProcessor(2, kept_bytes=0),
    "dask": DaskProcessor({"scheduler": "synchronous"}, tasks=2),
    "dask, nothing persisted": DaskProcessor({"scheduler": "synchronous"}, tasks=3, parallelism=3, persist=False),
    "dask, a partition for each block": DaskProcessor({"scheduler": "synchronous"}, tasks=2, parallelism=10**6),
}
if HAS_MODIN:
    import ray

    from trainwright_trainer.frames.modin import ModinProcessor

    PROCESSORS["modin"] = ModinProcessor(ray.put, ray.get, tasks=2)

FLOATS = st.sampled_from([0.0, -0.0, 1.5, 1.5, -3.0, 1e30, 0.1, math.nan]) | st.floats(-1e6, 1e6)
TEXTS = st.sampled_from(
    ["", "a", "b", "Ä", "ä", "日本", "e\u0301", "🙂", " a", "NaN", "True", "true", "1.0", "1"]
) | st.text(max_size=3)
DATES = st.dates().map(str)
VECTORS = st.lists(st.floats(-9, 9, width=32), min_size=2, max_size=2)
STRATEGIES = ["fill_with_const", "fill_with_mode", "ffill", "bfill", "drop_row"]
SPLITS: list[Any] = [
    {"type": "random", "probabilities": [1.0, 0.0, 0.0]},
    {"type": "random", "probabilities": [0.6, 0.0, 0.4]},
    {"type": "hash", "column": "c", "probabilities": [0.7, 0.0, 0.3]},
    {"type": "fixed"},
]


def gappy(values: Any) -> Any:
    return st.integers(0, 4).flatmap(lambda chance: values if chance else st.none())


@st.composite
def tables(draw: Any) -> list[pa.Table]:
    """The files of a data set. Some have no rows."""
    sizes = draw(st.lists(st.integers(0, 12), min_size=1, max_size=3) | st.just([1]) | st.just([11, 0, 9]))
    infinite = draw(st.integers(0, 5)) == 0
    numbers = FLOATS | st.sampled_from([math.inf, -math.inf]) if infinite else FLOATS
    kinds = {
        "n": (numbers, pa.float64()),
        "c": (TEXTS, pa.string()),
        "b": (st.booleans(), pa.bool_()),
        "d": (DATES, pa.string()),
        "v": (VECTORS, pa.list_(pa.float32())),
        "s": (st.lists(st.sampled_from("abÄ"), max_size=3).map(" ".join), pa.string()),
        "y": (FLOATS.filter(math.isfinite), pa.float64()),
    }
    found = []
    for size in sizes:
        columns = {
            name: pa.array(draw(st.lists(gappy(values), min_size=size, max_size=size)), kind)
            for name, (values, kind) in kinds.items()
        }
        columns["split"] = pa.array([row % 3 for row in range(size)], pa.int64())
        found.append(pa.table(columns))
    return found


@st.composite
def configs(draw: Any) -> ModelConfig:
    types = {"n": "number", "c": "category", "b": "binary", "d": "date", "v": "vector", "s": "set"}
    fits = {"b": ["fill_with_false", *STRATEGIES[1:]], "d": ["fill_with_const", *STRATEGIES[2:]]}
    inputs = [
        {
            "name": name,
            "type": kind,
            "preprocessing": {"missing_value_strategy": draw(st.sampled_from(fits.get(name, STRATEGIES)))},
        }
        for name, kind in types.items()
    ]
    inputs[0]["preprocessing"]["outlier_strategy"] = draw(st.sampled_from([None, "fill_with_mean", "drop_row"]))
    inputs[0]["preprocessing"]["normalization"] = draw(st.sampled_from([None, "zscore", "minmax", "iq"]))
    split, size = draw(st.sampled_from(SPLITS)), draw(st.sampled_from([None, None, 9]))
    raw = {
        "input_features": inputs,
        "output_features": [{"name": "y", "type": "number"}],
        "preprocessing": {"split": split, "sample_size": size},
    }
    return resolve(ModelConfig.model_validate(raw))


def result(config: ModelConfig, folder: Path, name: str) -> Any:
    """The bits of the result, or the mistakes."""
    try:
        found = prepare(config, str(folder / "data"), seed=1, cache_dir=str(folder / name), processor=PROCESSORS[name])
    except Mistakes as mistakes:
        return mistakes.problems
    assert found.finish() == ()
    columns = {key: bits(column) for key, column in found.columns.items()}
    return json.dumps(found.statistics), columns, found.splits.tolist(), found.notices, found.cache_key


def bits(column: pa.ChunkedArray) -> Any:
    """The values of the rows that are not null, as text that tells every float from every other."""
    return str(column.type), [None if value is None else repr(value) for value in column.to_pylist()]


def _plain(table: pa.Table) -> pa.Table:
    """CSV has no lists: a vector is its numbers, separated by spaces."""
    texts = [None if row is None else " ".join(map(repr, row)) for row in table["v"].to_pylist()]
    return table.drop_columns(["v"]).append_column("v", pa.array(texts, pa.string()))


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    with modin_ray.small_blocks() if HAS_MODIN else nullcontext():
        yield


@pytest.mark.parametrize("ending", ["parquet", pytest.param("csv", marks=pytest.mark.slow)])
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(files=tables(), config=configs())
def test_every_processor_gives_the_same_columns(ending: str, files: list[pa.Table], config: ModelConfig) -> None:
    with pytest.MonkeyPatch.context() as patched, TemporaryDirectory() as name:
        folder = Path(name)
        for module in modin_ray.BLOCK_MODULES:
            patched.setattr(f"{module}.BLOCK_ROWS", modin_ray.BLOCK_ROWS)
        (folder / "data").mkdir()
        for number, table in enumerate(files):
            if ending == "parquet":
                pq.write_table(table, folder / f"data/{number}.parquet", row_group_size=3)
            else:
                pa.csv.write_csv(_plain(table), folder / f"data/{number}.csv")
        expected = result(config, folder, "pandas")
        for processor in PROCESSORS:
            assert result(config, folder, processor) == expected, processor
