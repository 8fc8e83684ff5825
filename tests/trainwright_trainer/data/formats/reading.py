"""How these tests read files."""

from __future__ import annotations

import io
import zipfile
from datetime import datetime

import pyarrow as pa
import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.data import source
from trainwright_trainer.data.files import find

ROWS = [(1, "a"), (2, None), (3, "c, d"), (None, "e\nf")]
CSV = 'n,t,other\n1,a,x\n2,NA,x\n3,"c, d",x\n,"e\nf",x\n'
NUMBERS = pa.table({"n": list(range(500)), "t": [str(number) for number in range(500)]})
MOMENT = datetime(2024, 1, 2, 3, 4, 5)


def read(path, columns=("n", "t"), coded=()):
    files = find(str(path))
    wanted = [(f"config.input_features[{n}].column", column) for n, column in enumerate(columns)]
    source.check(files, wanted)
    blocks = list(source.blocks(files, wanted, coded))
    return {column: [value for block in blocks for value in block.columns[column].to_pylist()] for column in columns}


def mistake_of(path, columns=("n", "t")):
    with pytest.raises(Mistakes) as mistakes:
        read(path, columns)
    return str(mistakes.value)


def no_bytes(value):
    """The id of a parameter, without bytes: archives contain the time, and all pytest workers need the same ids."""
    return "content" if isinstance(value, bytes) else None


def zipped(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def stream(table, cut=lambda data: data):
    """The bytes of an Arrow IPC stream, as the library datasets writes it."""
    buffer = io.BytesIO()
    with pa.ipc.new_stream(buffer, table.schema) as writer:
        writer.write_table(table, max_chunksize=3)
    return cut(buffer.getvalue())
