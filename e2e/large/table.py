"""A table of any size, in Parquet files of a store."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

NUMBERS = [f"x{number:02d}" for number in range(38)]
CATEGORIES = {"city": 300, "shop": 5_000}
TARGET = "sold"
_GROUP_ROWS = 131_072
_GROUPS = 4
"""Row groups of a file, which is then about 170 MB."""


def write(files: fs.FileSystem, folder: str, size_bytes: int) -> int:
    """Write files of at least `size_bytes` together, and return their rows. Random digits are not compressed away."""
    written = rows = number = 0
    while written < size_bytes:
        path = f"{folder}/part-{number:04d}.parquet"
        blocks = [_block(_GROUPS * number + group) for group in range(_GROUPS)]
        with files.open_output_stream(path) as sink, pq.ParquetWriter(sink, blocks[0].schema) as writer:
            for block in blocks:
                writer.write_table(block)
        written += files.get_file_info(path).size
        rows, number = rows + _GROUPS * _GROUP_ROWS, number + 1
    return rows


def _block(seed: int) -> pa.Table:
    draws = np.random.default_rng(seed)
    numbers = draws.standard_normal((len(NUMBERS), _GROUP_ROWS))
    codes = {name: draws.integers(0, count, _GROUP_ROWS) for name, count in CATEGORIES.items()}
    slope = np.linspace(-1, 1, len(NUMBERS))
    score = slope @ numbers + 0.3 * np.sin(codes["city"]) + draws.standard_normal(_GROUP_ROWS)
    words = {name: pa.array(code.astype("U")) for name, code in codes.items()}
    columns = {**dict(zip(NUMBERS, map(pa.array, numbers), strict=True)), **words, TARGET: pa.array(score > 0)}
    return pa.table(columns)
