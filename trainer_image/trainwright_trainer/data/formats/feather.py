"""Feather (version 2) and Arrow's IPC files, which are the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from trainwright_trainer.data.formats.reader import UnreadableFileError

_MAGIC = b"ARROW1"


class FeatherReader:
    """Reads one Feather file, record batch by record batch."""

    name = "Feather"
    is_text = False

    def columns(self, path: Path) -> list[str] | None:
        with pa.OSFile(str(path)) as file:
            return list(_open(file).schema.names)

    def read(self, path: Path, columns: Sequence[str], coded: Sequence[str]) -> Iterator[pa.Table]:  # noqa: ARG002
        with pa.OSFile(str(path)) as file:
            names = _open(file).schema.names
            chosen = [position for position, name in enumerate(names) if name in columns]
            reader = _open(file, pa.ipc.IpcReadOptions(included_fields=chosen))
            for number in range(reader.num_record_batches):
                try:
                    yield pa.Table.from_batches([reader.get_batch(number)])
                except (pa.ArrowInvalid, OSError) as error:
                    raise UnreadableFileError("is damaged: its record batches cannot be read.") from error


def _open(file: pa.NativeFile, options: pa.ipc.IpcReadOptions | None = None) -> pa.ipc.RecordBatchFileReader:
    file.seek(0)
    if file.read(len(_MAGIC)) != _MAGIC:
        raise UnreadableFileError("is no Feather (version 2) file.")
    try:
        return pa.ipc.open_file(file, options=options)
    except (pa.ArrowInvalid, OSError) as error:
        raise UnreadableFileError("is truncated or damaged: its footer cannot be read.") from error
