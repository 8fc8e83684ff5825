"""The two sides of the benchmark of the data path do the same work."""

from __future__ import annotations

import os
import time
from itertools import zip_longest
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from bench import pyarrow_preprocessing
from bench.data import DELAY_SECONDS, by_hand, epoch, made, prepared, slow_store
from bench.scaling import write


@pytest.mark.parametrize("window_rows", [None, 300])
def test_columns_in_files_give_the_batches_of_columns_in_memory(tmp_path: Path, window_rows: int | None) -> None:
    held, stored = prepared(1000, tmp_path)
    for one, other in zip_longest(epoch(made(held, window_rows), 64), epoch(made(stored, window_rows), 64)):
        assert torch.equal(one.floats, other.floats)


def test_the_gather_uses_each_row_once() -> None:
    rows = torch.arange(100.0).unsqueeze(1)
    assert sorted(torch.cat(list(by_hand(rows, 7))).flatten().tolist()) == list(range(100))


def test_the_slow_store_serves_the_columns_of_a_cache_and_each_request_is_late(tmp_path: Path) -> None:
    before = dict(os.environ)
    with slow_store() as bucket:
        held, stored = prepared(1000, tmp_path, f"{bucket}/cache")
        start = time.monotonic()
        found = [batch.floats for batch in epoch(made(stored, 1000), 300)]
        assert time.monotonic() - start > DELAY_SECONDS
    assert torch.equal(torch.cat(found), torch.cat([batch.floats for batch in epoch(made(held, 1000), 300)]))
    assert dict(os.environ) == before


def test_the_program_by_hand_writes_each_column(tmp_path: Path) -> None:
    write(str(tmp_path / "t.parquet"), 1000)
    (tmp_path / "out").mkdir()
    pyarrow_preprocessing.run(str(tmp_path / "t.parquet"), str(tmp_path / "out"))
    columns = {path.stem: pq.read_table(path)["value"].to_numpy() for path in (tmp_path / "out").iterdir()}
    assert len(columns) == 17
    assert {len(values) for values in columns.values()} == {1000}
    assert abs(columns["n0"].mean()) < 0.1
    assert columns["n0"].std() == pytest.approx(1, abs=0.1)
    counts = np.bincount(columns["c0"])
    assert counts[0] > counts[-1]  # by frequency
