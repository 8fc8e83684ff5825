"""Feather (version 2) and Arrow's IPC files, which are the same; and files with an Arrow IPC stream."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from trainwright_trainer.data.datafile import DataFile
from trainwright_trainer.data.formats.reader import UnreadableFileError, damaged
from trainwright_trainer.data.table_schema import flat, flat_names

_MAGIC = b"ARROW1"
_STREAM = b"\xff\xff\xff\xff"
"""The first bytes of each message of a stream."""
_STREAM_END = _STREAM + bytes(4)


class FeatherReader:
    """Reads one file, record batch by record batch."""

    name = "Feather"
    notices: Sequence[str] = ()

    def columns(self, file: DataFile) -> list[str] | None:
        with file.native() as source:
            return flat_names(_open(source).schema)

    def read(self, file: DataFile, columns: Sequence[str], coded: Sequence[str]) -> Iterator[pa.Table]:  # noqa: ARG002
        with file.native() as source:
            names = _open(source).schema.names
            wanted = {name.partition(".")[0] for name in columns} | set(columns)  # a nested column is read whole
            chosen = [position for position, name in enumerate(names) if name in wanted]
            reader = _open(source, pa.ipc.IpcReadOptions(included_fields=chosen))
            with damaged("is damaged: its record batches cannot be read."):
                for batch in _batches(reader):
                    yield flat(pa.Table.from_batches([batch]))


def _batches(reader: pa.RecordBatchFileReader | pa.RecordBatchStreamReader) -> Iterator[pa.RecordBatch]:
    if isinstance(reader, pa.RecordBatchStreamReader):
        yield from reader
        return
    for number in range(reader.num_record_batches):
        yield reader.get_batch(number)


def _open(
    source: pa.NativeFile, options: pa.ipc.IpcReadOptions | None = None
) -> pa.RecordBatchFileReader | pa.RecordBatchStreamReader:
    source.seek(0)
    head = source.read(len(_MAGIC))
    if head.startswith(_STREAM):
        return _open_stream(source, options)
    if head != _MAGIC:
        raise UnreadableFileError("is no Feather (version 2) file.")
    with damaged("is truncated or damaged: its footer cannot be read."):
        return pa.ipc.open_file(source, options=options)


def _open_stream(source: pa.NativeFile, options: pa.ipc.IpcReadOptions | None) -> pa.RecordBatchStreamReader:
    source.seek(max(source.size() - len(_STREAM_END), 0))
    if source.read(len(_STREAM_END)) != _STREAM_END:
        raise UnreadableFileError("is truncated or damaged: its stream has no end.")
    source.seek(0)
    with damaged("is truncated or damaged: its schema cannot be read."):
        return pa.ipc.open_stream(source, options=options)
