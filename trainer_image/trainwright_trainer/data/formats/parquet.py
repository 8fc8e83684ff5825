"""Parquet, column by column. Dictionary-encoded pages are kept as dictionaries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from trainwright_trainer.data.datafile import DataFile
from trainwright_trainer.data.formats.reader import FileHead, UnreadableFileError, damaged
from trainwright_trainer.data.rows import BLOCK_ROWS
from trainwright_trainer.data.table_schema import flat, flat_names

_MAGIC = b"PAR1"
_HEAD_BYTES = 1 << 16
_BATCH_BYTES = 64 << 20
"""Rows that are read at a time take about this many bytes at most."""
_BUFFER = 1 << 18
"""Columns are read in pieces of this many bytes. With `pre_buffer`, Arrow would keep all that it has read of a file."""


class ParquetReader:
    """Reads one Parquet file."""

    name = "Parquet"
    notices: Sequence[str] = ()

    def columns(self, file: DataFile) -> list[str] | None:
        with _open(file, ()) as parquet:
            return flat_names(parquet.schema_arrow)

    def read(self, file: DataFile, columns: Sequence[str], coded: Sequence[str]) -> Iterator[pa.Table]:
        with _open(file, _text_of(file, coded)) as parquet, damaged("is damaged: its pages cannot be read."):
            for groups in _fetched(file, parquet):
                for batch in parquet.iter_batches(_batch_rows(parquet, columns), columns=list(columns), **groups):
                    yield flat(pa.Table.from_batches([batch]))

    def head(self, file: DataFile) -> FileHead:
        with _open(file, ()) as parquet:
            return FileHead(parquet.metadata.num_rows, flat(parquet.schema_arrow.empty_table()).schema)

    def read_rows(
        self, file: DataFile, columns: Sequence[str], coded: Sequence[str], rows: range
    ) -> Iterator[pa.Table]:
        with _open(file, _text_of(file, coded)) as parquet, damaged("is damaged: its pages cannot be read."):
            groups, first = _groups_of(parquet, rows)
            for group in groups:
                for batch in parquet.iter_batches(
                    _batch_rows(parquet, columns), columns=list(columns), row_groups=[group]
                ):
                    start, stop = max(rows.start - first, 0), min(rows.stop - first, len(batch))
                    first += len(batch)
                    if start < stop:
                        yield flat(pa.Table.from_batches([batch.slice(start, stop - start)]))
                    if first >= rows.stop:
                        return


def _batch_rows(parquet: pq.ParquetFile, columns: Sequence[str]) -> int:
    """The rows that are read at a time: fewer than those of a block, if a row is large, as one with an image."""
    groups = [parquet.metadata.row_group(group) for group in range(parquet.num_row_groups)]
    row_bytes = 0.0
    for group in groups:
        chunks = [group.column(number) for number in range(group.num_columns)]
        wanted = [chunk for chunk in chunks if _is_in(chunk.path_in_schema, columns)]
        row_bytes = max(row_bytes, sum(chunk.total_uncompressed_size for chunk in wanted) / max(group.num_rows, 1))
    return max(1, min(BLOCK_ROWS, int(_BATCH_BYTES / max(row_bytes, 1))))


def _is_in(path: str, columns: Sequence[str]) -> bool:
    """Whether the path, or a parent of it, is one of the columns."""
    return any(parent in columns for parent in accumulate(path.split("."), "{}.{}".format))


def _text_of(file: DataFile, coded: Sequence[str]) -> list[str]:
    with _open(file, ()) as parquet:
        return [name for name in coded if _is_text(parquet.schema_arrow, name)]


def _groups_of(parquet: pq.ParquetFile, rows: range) -> tuple[list[int], int]:
    """The row groups that hold the rows, and the number of the first row of the first one."""
    sizes = [parquet.metadata.row_group(group).num_rows for group in range(parquet.num_row_groups)]
    ends = list(accumulate(sizes))
    groups = [group for group, end in enumerate(ends) if end > rows.start and end - sizes[group] < rows.stop]
    if not groups:
        raise UnreadableFileError("has fewer rows than when its head was read.")
    return groups, ends[groups[0]] - sizes[groups[0]]


@contextmanager
def _open(file: DataFile, coded: Sequence[str]) -> Iterator[pq.ParquetFile]:
    fetched: dict[str, Any] = {"pre_buffer": True} if file.is_remote else {"pre_buffer": False, "buffer_size": _BUFFER}
    with file.native() as source:
        with damaged(lambda: _damage_of(source)):
            parquet = pq.ParquetFile(source, read_dictionary=list(coded), **fetched)
        yield parquet


def _damage_of(source: pa.NativeFile) -> str:
    """The mistake of a file without a readable footer.

    Its first bytes are read here alone: Arrow does not repeat a request for a few bytes that a store answers with a
    longer text, as a busy one does.
    """
    source.seek(0)
    whole = source.read(_HEAD_BYTES).startswith(_MAGIC)
    return "is truncated or damaged: its footer cannot be read." if whole else "is no Parquet file."


def _fetched(file: DataFile, parquet: pq.ParquetFile) -> list[dict[str, Any]]:
    """The arguments of each fetch. A remote file is fetched one row group at a time, in few large reads."""
    return [{"row_groups": [group]} for group in range(parquet.num_row_groups)] if file.is_remote else [{}]


def _is_text(schema: pa.Schema, name: str) -> bool:
    return name in schema.names and (
        pa.types.is_string(schema.field(name).type) or pa.types.is_large_string(schema.field(name).type)
    )
