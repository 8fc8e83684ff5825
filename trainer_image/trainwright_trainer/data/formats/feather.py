"""Feather (version 2) and Arrow's IPC files, which are the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from trainwright_trainer.data.datafile import DataFile
from trainwright_trainer.data.formats.reader import UnreadableFileError, damaged
from trainwright_trainer.data.table_schema import flat, flat_names

_MAGIC = b"ARROW1"


class FeatherReader:
    """Reads one Feather file, record batch by record batch."""

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
                for number in range(reader.num_record_batches):
                    yield flat(pa.Table.from_batches([reader.get_batch(number)]))


def _open(source: pa.NativeFile, options: pa.ipc.IpcReadOptions | None = None) -> pa.ipc.RecordBatchFileReader:
    source.seek(0)
    if source.read(len(_MAGIC)) != _MAGIC:
        raise UnreadableFileError("is no Feather (version 2) file.")
    with damaged("is truncated or damaged: its footer cannot be read."):
        return pa.ipc.open_file(source, options=options)
