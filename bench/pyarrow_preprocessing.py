"""The shortest hand-written pyarrow program that prepares the table of bench/tabular.yaml as we do: it reads the file,
splits the rows, z-scores numbers and numbers the words of categories by the training rows, and writes each column.

It holds the whole table in memory, and has no checks. It may become faster, never slower.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq


def run(path: str, folder: str) -> None:
    table = pq.read_table(path)
    is_train = np.random.default_rng(0).random(len(table)) < 0.7
    for name in table.column_names:
        column = table[name]
        if name.startswith("c"):
            counts = pc.value_counts(column.filter(pa.array(is_train)))
            order = pc.sort_indices(counts.field("counts"), sort_keys=[("", "descending")])
            column = pc.index_in(column, counts.field("values").take(order))
        elif name.startswith("n"):
            values = column.to_numpy()
            train = values[is_train]
            column = pa.chunked_array([((values - train.mean()) / train.std()).astype("float32")])
        else:
            column = pa.chunked_array([column.to_numpy().astype("float32")])
        pq.write_table(
            pa.table({"value": column}), Path(folder, f"{name}.parquet"), compression="none", use_dictionary=False
        )
