"""A list of files in a bucket, one of which changes while they are read: one line, and no column of it in the cache."""

from __future__ import annotations

import io
from concurrent.futures import wait

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.data import cache_lookup, encoded, rows
from trainwright_trainer.data.content import Contents
from trainwright_trainer.data.datafile import DataFile
from trainwright_trainer.data.preprocess import prepare
from trainwright_trainer.frames.dask import DaskProcessor
from trainwright_trainer.frames.pandas import PandasProcessor
from trainwright_trainer.storage.registry import storage_at

PROCESSORS = {
    "pandas": PandasProcessor(2, kept_bytes=0),
    "dask": DaskProcessor({"scheduler": "synchronous"}, tasks=4, persist=False),
}
CHANGED = "part/b.parquet"
CHANGES = {
    "other values": lambda columns: content({**columns, "n": [1.0] * 200}),
    "fewer rows": lambda columns: content({name: values[:20] for name, values in columns.items()}),
    "more rows": lambda columns: content({name: values * 2 for name, values in columns.items()}),
    "texts for numbers": lambda columns: content({**columns, "n": ["x"] * 200}),
    "no such column": lambda columns: content({name: columns[name] for name in columns if name != "n"}),
    "half a file": lambda columns: content({**columns, "n": [1.0] * 200})[:1500],
    "no file": None,
}


def content(columns):
    """The bytes of a Parquet file."""
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Blocks are small, and nothing is kept in memory: each pass reads all files, and columns grow in files."""
    monkeypatch.setattr(rows, "BLOCK_ROWS", 16)
    monkeypatch.setattr("trainwright_trainer.data.source.BLOCK_ROWS", 16)
    monkeypatch.setattr("trainwright_trainer.data.computation.BLOCK_ROWS", 16)
    monkeypatch.setattr(encoded.EncodedColumns.__init__, "__defaults__", (0,))
    monkeypatch.setattr(cache_lookup, "MOST_ROWS_READ", 0)


@pytest.fixture
def change_before(monkeypatch, bucket, columns):
    """Three files in the bucket. The second one changes before it is opened for the `number`th time."""
    storage = storage_at(bucket)
    for name in ("a", "b", "c"):
        storage.write(f"data/part/{name}.parquet", [content(columns)])
    native, start, opened = DataFile.native, Contents.start, []

    def change_before(number, change):
        def opening(file):
            if str(file).endswith(CHANGED):
                opened.append(file.name)
                if len(opened) == number:
                    if change is None:
                        storage.delete(f"data/{CHANGED}")
                    else:
                        storage.write(f"data/{CHANGED}", [change(columns)])
            return native(file)

        monkeypatch.setattr(DataFile, "native", opening)
        return opened

    def hashed(self):
        start(self)
        wait(self._hashes)  # else the file may change between two requests of the thread that hashes it

    monkeypatch.setattr(Contents, "start", hashed)
    return change_before


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(
    ("processor", "files", "number"),
    [
        ("pandas", "part/{a,b,c}.parquet", 1),
        ("pandas", "**/*.parquet", 3),
        ("dask", "part/{a,b,c}.parquet", 4),
        ("dask", "**/*.parquet", 7),
    ],
)
def test_it_is_one_line(bucket, usual, change_before, processor, files, number, change):
    opened = change_before(number, CHANGES[change])
    with pytest.raises(Mistakes) as caught:
        prepare(usual(), f"{bucket}/data/{files}", seed=0, cache_dir=f"{bucket}/cache", processor=PROCESSORS[processor])
    assert len(opened) >= number
    assert str(caught.value) == f"dataset: {opened[0]!r} changed while it was read. Start again when it is written."
    kept = storage_at(f"{bucket}/cache").list_tree()
    assert [entry for entry in kept if entry.startswith("features/")] == []
