"""One encoded column as a Parquet file: plain pages without compression, which read as fast as memory is copied.

Lists are stored as binary values, because Parquet's own lists cost a level for each element. The schema's metadata
holds their element type, and the size of fixed-size lists. Pages have checksums.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

_ELEMENTS = {"int32": pa.int32(), "float": pa.float32(), "double": pa.float64()}


GROUP_ROWS = 262_144
"""The rows of a row group."""
_GROUP_BYTES = 64 << 20
"""A column of bytes, or of lists of many numbers, begins a new row group after so many bytes."""
_WIDE = 4_096
"""The numbers of such a list."""


@dataclass(frozen=True)
class Column:
    """The content of a file: the values, and the notices to show whenever they are used."""

    values: pa.ChunkedArray
    notices: tuple[str, ...] = field(default=())

    @property
    def null_count(self) -> int:
        return int(self.values.null_count)

    def readers(self, cores: int) -> int:  # noqa: ARG002
        """One, because nothing is read."""
        return 1

    def blocks(self) -> Iterator[pa.Array]:
        """The values, part by part."""
        yield from self.values.chunks

    def part(self, start: int, stop: int) -> pa.ChunkedArray:
        """The rows [start, stop)."""
        return self.values.slice(start, stop - start)

    def parts(self, start: int, stop: int) -> Iterator[pa.Array]:
        """The rows [start, stop), chunk by chunk."""
        yield from self.part(start, stop).chunks


@dataclass(frozen=True)
class ColumnFacts:
    """The facts of a file that its footer tells."""

    rows: int
    null_count: int
    notices: tuple[str, ...]


class ColumnWriter:
    """Writes a file block by block. `nullable`: whether values may be null; a file without nulls is read faster."""

    def __init__(self, file: IO[bytes], kind: pa.DataType, *, nullable: bool) -> None:
        self._about = {}
        self._is_list = pa.types.is_fixed_size_list(kind) or pa.types.is_large_list(kind)
        if self._is_list:
            size = {"size": str(kind.list_size)} if pa.types.is_fixed_size_list(kind) else {}
            self._about = {"element": str(kind.value_type), **size}
            kind = _packed_type(kind)
        self._schema = pa.schema([pa.field("value", kind, nullable=nullable)])
        options: dict[str, Any] = {"compression": "none", "use_dictionary": False, "write_statistics": False}
        self._writer = pq.ParquetWriter(file, self._schema, write_page_checksum=True, **options)
        self._waiting: list[pa.Array] = []
        self._rows = self._nulls = self._bytes = 0

    def write(self, values: pa.Array) -> None:
        self._waiting.append(_packed(values) if self._is_list else values)
        self._rows += len(values)
        self._nulls += values.null_count
        self._bytes += values.nbytes if _is_large(values.type) else 0
        if self._bytes >= _GROUP_BYTES:
            self._flush(whole=False)
        elif self._rows >= GROUP_ROWS:
            self._flush()

    def close(self, notices: Sequence[str]) -> None:
        """Write the rest, and the footer with the notices."""
        self._flush(whole=False)
        about = {**self._about, "notices": json.dumps(notices), "nulls": str(self._nulls)}
        self._writer.add_key_value_metadata(about)
        self._writer.close()

    def abandon(self) -> None:
        """Free the writer of a file that is not needed. A full disk may refuse the footer."""
        with suppress(OSError):
            self._writer.close()

    def _flush(self, *, whole: bool = True) -> None:
        """Write the waiting rows; with `whole`, only those that fill row groups."""
        table = pa.table([pa.chunked_array(self._waiting, self._schema.field(0).type)], schema=self._schema)
        rows = self._rows // GROUP_ROWS * GROUP_ROWS if whole else self._rows
        if rows:
            self._writer.write_table(table.slice(0, rows), row_group_size=GROUP_ROWS)
        self._bytes = 0
        self._waiting, self._rows = table.column(0).slice(rows).chunks, self._rows - rows


def _is_large(kind: pa.DataType) -> bool:
    if pa.types.is_fixed_size_list(kind):
        return bool(kind.list_size > _WIDE)
    return bool(pa.types.is_large_binary(kind))


def write(file: IO[bytes], column: Column) -> None:
    """Write the whole file."""
    writer = ColumnWriter(file, column.values.type, nullable=column.null_count > 0)
    for block in column.values.chunks:
        writer.write(block)
    writer.close(column.notices)


def facts(file: pa.NativeFile) -> ColumnFacts:
    """Read the footer. Raises OSError or ValueError if it is damaged."""
    found = pq.ParquetFile(file)
    about = found.metadata.metadata
    return ColumnFacts(found.metadata.num_rows, int(about[b"nulls"]), tuple(json.loads(about[b"notices"])))


def read(file: pa.NativeFile) -> Column:
    """Read a file that `write` wrote. Raises OSError or ValueError if it is damaged."""
    table = pq.ParquetFile(file, page_checksum_verification=True).read(use_threads=False)
    about = table.schema.metadata or {}
    values = table.column("value")
    kind = _list_type(about)
    if kind is not None:
        values = pa.chunked_array([_unpacked(chunk, kind) for chunk in values.chunks], kind)
    return Column(values, tuple(json.loads(about[b"notices"])))


def blocks(file: pa.NativeFile) -> Iterator[pa.Array]:
    """The values of a file, row group by row group. Raises OSError or ValueError if it is damaged."""
    found = footer(file)
    yield from parts(file, found, 0, found.about.num_rows, set())


def read_through(file: pa.NativeFile) -> ColumnFacts:
    """Read a whole file, block by block, to compare its checksums. Raises OSError or ValueError if it is damaged."""
    found = facts(file)
    rows = sum(len(block) for block in blocks(file))
    if rows != found.rows:
        raise ValueError(f"{rows} rows of {found.rows}")
    return found


@dataclass(frozen=True)
class Footer:
    """The facts of a file that reads of its parts need: found once, because a file has many parts."""

    about: pq.FileMetaData

    @cached_property
    def list_type(self) -> pa.DataType | None:
        """The type of the lists, which are stored as binary values."""
        return _list_type(self.about.metadata)

    @cached_property
    def type(self) -> pa.DataType:
        """The type of the values."""
        return self.list_type or self.about.schema.to_arrow_schema().field("value").type

    @cached_property
    def edges(self) -> list[int]:
        """The first row of each row group, and the number of rows."""
        groups = range(self.about.num_row_groups)
        return [0, *accumulate(self.about.row_group(group).num_rows for group in groups)]


def footer(file: pa.NativeFile) -> Footer:
    """Raises OSError or ValueError if it is damaged."""
    return Footer(pq.ParquetFile(file).metadata)


def parts(file: pa.NativeFile, found: Footer, start: int, stop: int, verified: set[int]) -> Iterator[pa.Array]:
    """The rows [start, stop), row group by row group; no others are read. `found` is the footer of the file.

    `verified`: the row groups whose checksums were compared before. Those that are compared now are added.
    Raises OSError or ValueError if the file is damaged.
    """
    first = bisect_right(found.edges, start) - 1
    for group in range(first, bisect_left(found.edges, stop, first, found.about.num_row_groups)):
        low, high = found.edges[group : group + 2]
        # A checksum takes longer than the read itself.
        reader = pq.ParquetFile(file, metadata=found.about, page_checksum_verification=group not in verified)
        values = reader.read_row_group(group, use_threads=False).column("value")
        verified.add(group)
        for chunk in values.slice(max(start - low, 0), min(stop, high) - max(start, low)).chunks:
            yield chunk if found.list_type is None else _unpacked(chunk, found.list_type)


def _list_type(about: Mapping[bytes, bytes]) -> pa.DataType | None:
    if b"element" not in about:
        return None
    element = _ELEMENTS[about[b"element"].decode()]
    return pa.list_(element, int(about[b"size"])) if b"size" in about else pa.large_list(element)


def _packed_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_large_list(kind):
        return pa.large_binary()
    return pa.binary(kind.list_size * kind.value_type.bit_width // 8)


def _packed(lists: pa.Array) -> pa.Array:
    whole = _packed_lists(lists) if pa.types.is_large_list(lists.type) else _packed_fixed(lists)
    return pc.if_else(lists.is_valid(), whole, None) if lists.null_count else whole


def _packed_lists(lists: pa.LargeListArray) -> pa.Array:
    """The elements of each row as one binary value, of any length."""
    offsets, elements = lists.offsets.to_numpy(), lists.values.to_numpy()
    own = elements[offsets[0] : offsets[-1]]
    buffers = [None, pa.py_buffer((offsets - offsets[0]) * own.itemsize), pa.py_buffer(own)]
    return pa.Array.from_buffers(pa.large_binary(), len(lists), buffers)


def _packed_fixed(lists: pa.FixedSizeListArray) -> pa.Array:
    kind = _packed_type(lists.type)
    size = lists.type.list_size
    elements = lists.values.slice(lists.offset * size, len(lists) * size)
    data = elements.buffers()[1].slice(elements.offset * elements.type.bit_width // 8, len(lists) * kind.byte_width)
    return pa.Array.from_buffers(kind, len(lists), [None, data])


def _unpacked(packed: pa.Array, kind: pa.DataType) -> pa.Array:
    return _unpacked_lists(packed, kind) if pa.types.is_large_list(kind) else _unpacked_fixed(packed, kind)


def _unpacked_lists(packed: pa.Array, kind: pa.DataType) -> pa.Array:
    width = kind.value_type.bit_width // 8
    offsets = np.frombuffer(packed.buffers()[1], np.int64, len(packed) + 1, packed.offset * 8)
    data = packed.buffers()[2] or pa.py_buffer(b"")
    elements = pa.Array.from_buffers(kind.value_type, data.size // width, [None, data])
    mask = packed.is_null() if packed.null_count else None
    return pa.LargeListArray.from_arrays(pa.array(offsets // width), elements, mask=mask)


def _unpacked_fixed(packed: pa.Array, kind: pa.DataType) -> pa.Array:
    width = packed.type.byte_width
    data = packed.buffers()[1].slice(packed.offset * width, len(packed) * width)
    elements = pa.Array.from_buffers(kind.value_type, len(packed) * kind.list_size, [None, data])
    return pa.FixedSizeListArray.from_arrays(
        elements, kind.list_size, mask=packed.is_null() if packed.null_count else None
    )
