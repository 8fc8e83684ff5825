"""The exponent is found through any start-up time, and the chunked data are of the baseline's form."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from bench.scaling import exponent, write

SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)


@pytest.mark.parametrize("truth", [0.8, 1.0, 1.5, 2.0])
@pytest.mark.parametrize("start_up", [0.0, 5.0])
def test_finds_the_exponent_of_exact_times(truth: float, start_up: float) -> None:
    seconds = {rows: start_up + 1e-5 * rows**truth for rows in SIZES}
    assert exponent(seconds) == pytest.approx(truth, abs=0.011)


def test_linear_time_with_hidden_small_sizes_is_about_linear() -> None:
    assert exponent({1_000: 5.4, 10_000: 5.4, 100_000: 6.0, 1_000_000: 17.0, 10_000_000: 130.0}) == pytest.approx(
        1, abs=0.1
    )


def test_data_in_chunks_have_all_rows(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    write(str(path), 250, chunk=100)
    table = pq.read_table(path)
    assert table.num_rows == 250
    assert table.column_names == [*(f"n{i}" for i in range(10)), *(f"c{i}" for i in range(5)), "b0", "y"]
