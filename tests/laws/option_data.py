"""The training data of the laws: missing values, outliers, mixed case, rare classes, and each column twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
from tests.workbook import write_workbook

from .parity_job import png_of

ROWS = 240
INPUTS = {
    "number": "size",
    "binary": "open",
    "category": "kind",
    "date": "when",
    "vector": "point",
    "set": "tags",
    "bag": "tags",
    "sequence": "path",
    "text": "note",
    "image": "picture",
}
OUTPUTS = {
    "number": "delay",
    "binary": "late",
    "category": "class",
    "vector": "place",
    "set": "labels",
    "sequence": "steps",
    "text": "steps",
}
_WORDS = ["a", "A", "b_b", "c", "<PAD>", "<UNK>", "rare-word"]
_TAGS = ["x", "X", "y_y", "z,z", "rare"]
WIDTHS = {"number": 1, "binary": 1, "category": 3, "vector": 2, "set": 5}
"""The number of values that a decoder returns for a row, by type of output."""


def write(path: Path, seed: int) -> None:
    """Write a Parquet file with the columns of `INPUTS` and `OUTPUTS`, each also a second time with the suffix 2."""
    random = np.random.default_rng(seed)
    columns: dict[str, Any] = {}
    for end in ("", "2"):
        size = random.lognormal(size=ROWS)
        size[random.choice(ROWS, 6, replace=False)] *= 30
        drawn = random.normal(size=(ROWS, 3))
        signal = np.log(size) + drawn[:, 0]
        columns |= {
            f"size{end}": _with_gaps(random, size.tolist()),
            f"open{end}": _with_gaps(random, np.where(drawn[:, 0] > -0.5, "yes", "no").tolist()),
            f"side{end}": _with_gaps(random, np.where(drawn[:, 1] > 0, "left", "right").tolist()),
            f"kind{end}": _with_gaps(random, random.choice(["red", "Red", "blue", "green"], ROWS).tolist()),
            f"when{end}": _with_gaps(random, _dates(random, "{2013:04}-{month:02}-{day:02} {hour:02}:30:15")),
            f"day{end}": _dates(random, "{month:02}/{day:02}/2013"),
            f"point{end}": _with_gaps(random, [" ".join(f"{value:.3f}" for value in row) for row in drawn]),
            f"tags{end}": _with_gaps(random, [" ".join(row) for row in random.choice(_TAGS, (ROWS, 3)).tolist()]),
            f"path{end}": _with_gaps(random, _sentences(random, " ")),
            f"note{end}": _with_gaps(random, _sentences(random, ", ")),
            f"picture{end}": _with_gaps(random, _pictures(random)),
            f"delay{end}": _with_gaps(random, np.abs(signal + 2).tolist()),
            f"late{end}": _with_gaps(random, np.where(signal > 0, "yes", "no").tolist()),
            f"class{end}": _with_gaps(random, random.choice(["low", "Low", "mid"], ROWS, p=[0.2, 0.3, 0.5]).tolist()),
            f"place{end}": _with_gaps(random, np.abs(drawn[:, :2]).tolist()),
            f"shares{end}": [f"{share:.3f} {1 - share:.3f}" for share in 1 / (1 + np.exp(drawn[:, 0]))],
            f"split{end}": random.choice(3, ROWS, p=[0.6, 0.2, 0.2]),
            f"labels{end}": _with_gaps(random, [" ".join(row) for row in _labels(random, signal)]),
            f"steps{end}": _with_gaps(random, _steps(random, signal)),
            f"made{end}": [f"{2013 + row * (77 if end else 97) % ROWS}-05-09" for row in range(ROWS)],
        }
    table = pa.table(columns)
    pa.parquet.write_table(table, path)
    path.with_name("glove.txt").write_text("".join(f"{word} 0.5 -1 2\n" for word in ("a", "x", "red", "blue", "b_b")))
    write_formats(table.drop_columns(["place", "place2", "picture", "picture2"]), path)


def write_formats(table: pa.Table, path: Path) -> None:
    """Write the same rows as CSV, and in every format under a name that does not show the format."""
    pa.csv.write_csv(table, path.with_suffix(".csv"))
    pa.csv.write_csv(_with_commas(table), path.with_name("commas.csv"))
    pa.csv.write_csv(_with_commas(table), path.with_name("semicolons.csv"), pa.csv.WriteOptions(delimiter=";"))
    pa.csv.write_csv(table, path.with_name("csv.data"))
    pa.csv.write_csv(table, path.with_name("tsv.data"), pa.csv.WriteOptions(delimiter="\t"))
    pa.parquet.write_table(table, path.with_name("parquet.data"))
    pa.feather.write_feather(table, path.with_name("feather.data"))
    rows = [list(row.values()) for row in table.to_pylist()]
    write_workbook(path.with_name("excel.data"), [table.column_names, *rows])
    path.with_name("json.data").write_text("".join(f"{json.dumps(row)}\n" for row in table.to_pylist()))


def _with_commas(table: pa.Table) -> pa.Table:
    """The table whose sizes have decimal commas."""
    for name in ("size", "size2"):
        texts = pa.compute.replace_substring(table[name].cast(pa.string()), ".", ",")
        table = table.set_column(table.schema.get_field_index(name), name, texts)
    return table


def _pictures(random: np.random.Generator) -> list[bytes]:
    """PNG files of two sizes, some of them grey."""
    sizes = random.choice([12, 13], ROWS), random.choice([14, 15], ROWS)
    channels = random.choice([1, 3], ROWS, p=[0.2, 0.8])
    channels[:20] = 1
    shapes = zip(channels.tolist(), *sizes, strict=True)
    return [png_of(random.integers(0, 256, shape, dtype=np.uint8)) for shape in shapes]


def _with_gaps(random: np.random.Generator, values: list[Any]) -> list[Any]:
    gaps = random.random(ROWS) < 0.08
    return [None if gap else value for gap, value in zip(gaps, values, strict=True)]


def _sentences(random: np.random.Generator, between: str) -> list[str]:
    """Texts of one to nine words."""
    return [between.join(random.choice(_WORDS, random.integers(1, 10))) for _ in range(ROWS)]


def _labels(random: np.random.Generator, signal: np.ndarray) -> list[list[str]]:
    """Sets of up to three tokens, of which two are rare alone and one depends on the signal."""
    drawn = random.random((ROWS, 2)) < 0.4
    return [
        [*(["p"] if high else ["q"]), *(["P"] if first else []), *(["p,p"] if second else [])]
        for high, (first, second) in zip(signal > 0, drawn.tolist(), strict=True)
    ]


def _steps(random: np.random.Generator, signal: np.ndarray) -> list[str]:
    """Sequences of one to five tokens, of which the first one depends on the signal."""
    rest = [random.choice(["c", "C", "d_d", "e"], random.integers(0, 5)).tolist() for _ in range(ROWS)]
    return [" ".join(["a" if high else "b", *more]) for high, more in zip(signal > 0, rest, strict=True)]


def _dates(random: np.random.Generator, form: str) -> list[str]:
    months, days, hours = random.integers(1, 13, ROWS), random.integers(1, 13, ROWS), random.integers(0, 24, ROWS)
    form = form.replace("{2013:04}", "2013")
    return [form.format(month=m, day=d, hour=h) for m, d, h in zip(months, days, hours, strict=True)]
