"""Parquet, column by column: pages of dictionaries stay dictionaries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from trainwright_trainer.data.formats.reader import UnreadableFileError
from trainwright_trainer.data.rows import BLOCK_ROWS

_MAGIC = b"PAR1"
_BUFFER = 1 << 18
"""Column chunks are read in pieces of so many bytes, not whole: the compressed file is never in memory at once."""


class ParquetReader:
    """Reads one Parquet file."""

    name = "Parquet"
    is_text = False

    def columns(self, path: Path) -> list[str] | None:
        with _open(path, ()) as file:
            return list(file.schema_arrow.names)

    def read(self, path: Path, columns: Sequence[str], coded: Sequence[str]) -> Iterator[pa.Table]:
        with _open(path, ()) as file:
            text = [name for name in coded if _is_text(file.schema_arrow, name)]
        with _open(path, text) as file:
            try:
                for batch in file.iter_batches(BLOCK_ROWS, columns=list(columns)):
                    yield pa.Table.from_batches([batch])
            except (pa.ArrowInvalid, OSError) as error:
                raise UnreadableFileError("is damaged: its pages cannot be read.") from error


def _open(path: Path, coded: Sequence[str]) -> pq.ParquetFile:
    with path.open("rb") as start:
        if start.read(len(_MAGIC)) != _MAGIC:
            raise UnreadableFileError("is no Parquet file.")
    try:
        return pq.ParquetFile(path, read_dictionary=list(coded), buffer_size=_BUFFER)
    except (pa.ArrowInvalid, OSError) as error:
        raise UnreadableFileError("is truncated or damaged: its footer cannot be read.") from error


def _is_text(schema: pa.Schema, name: str) -> bool:
    return name in schema.names and (
        pa.types.is_string(schema.field(name).type) or pa.types.is_large_string(schema.field(name).type)
    )
