"""One encoded column as a Parquet file: plain pages without compression, which read as fast as memory is copied.

Fixed-size lists are stored as fixed-size binary values, because Parquet's own lists cost a level for each element. The
schema's metadata holds their element type and size. Pages have checksums.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

_ELEMENTS = {"int32": pa.int32(), "float": pa.float32()}


@dataclass(frozen=True)
class Column:
    """The content of a file: the values, and the notices to show whenever they are used."""

    values: pa.ChunkedArray
    notices: tuple[str, ...] = field(default=())


def write(file: IO[bytes], column: Column) -> None:
    """Write the whole file."""
    values = column.values
    about = {"notices": json.dumps(column.notices)}
    if pa.types.is_fixed_size_list(values.type):
        about |= {"element": str(values.type.value_type), "size": str(values.type.list_size)}
        values = pa.chunked_array([_packed(chunk) for chunk in values.chunks], _packed_type(values.type))
    schema = pa.schema([pa.field("value", values.type, nullable=values.null_count > 0)], metadata=about)
    pq.write_table(
        pa.table([values], schema=schema),
        file,
        compression="none",
        use_dictionary=False,
        write_statistics=False,
        write_page_checksum=True,
    )


def read(file: pa.NativeFile) -> Column:
    """Read a file that `write` wrote. Raises OSError or ValueError if it is damaged."""
    table = pq.ParquetFile(file, page_checksum_verification=True).read(use_threads=False)
    about = table.schema.metadata or {}
    values = table.column("value")
    if b"element" in about:
        kind = pa.list_(_ELEMENTS[about[b"element"].decode()], int(about[b"size"]))
        values = pa.chunked_array([_unpacked(chunk, kind) for chunk in values.chunks], kind)
    return Column(values, tuple(json.loads(about[b"notices"])))


def _packed_type(kind: pa.DataType) -> pa.DataType:
    return pa.binary(kind.list_size * kind.value_type.bit_width // 8)


def _packed(lists: pa.Array) -> pa.Array:
    kind = _packed_type(lists.type)
    size = lists.type.list_size
    elements = lists.values.slice(lists.offset * size, len(lists) * size)
    data = elements.buffers()[1].slice(elements.offset * elements.type.bit_width // 8, len(lists) * kind.byte_width)
    whole = pa.Array.from_buffers(kind, len(lists), [None, data])
    return pc.if_else(lists.is_valid(), whole, None) if lists.null_count else whole


def _unpacked(packed: pa.Array, kind: pa.DataType) -> pa.Array:
    width = packed.type.byte_width
    data = packed.buffers()[1].slice(packed.offset * width, len(packed) * width)
    elements = pa.Array.from_buffers(kind.value_type, len(packed) * kind.list_size, [None, data])
    return pa.FixedSizeListArray.from_arrays(
        elements, kind.list_size, mask=packed.is_null() if packed.null_count else None
    )
