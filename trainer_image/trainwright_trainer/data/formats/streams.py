"""The decompressed bytes of a text file."""

from __future__ import annotations

import codecs
import gzip
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, cast

import pyarrow as pa

from trainwright_trainer.data.datafile import DataFile
from trainwright_trainer.data.formats.reader import UnreadableFileError

_DAMAGED = (gzip.BadGzipFile, zipfile.BadZipFile, zlib.error, EOFError)


@contextmanager
def opened(file: DataFile) -> Iterator[IO[bytes]]:
    """The decompressed bytes. Errors of the compression, now or while reading, are raised as `UnreadableFileError`."""
    try:
        with _plain(file) as stream:
            yield stream
    except _DAMAGED as error:
        kind = file.path.suffix.lstrip(".")
        raise UnreadableFileError(f"is no readable {kind} archive: truncated or damaged.") from error


@contextmanager
def _plain(file: DataFile) -> Iterator[IO[bytes]]:
    ending = file.path.suffix.lower()
    with file.open() as stored:
        if ending == ".gz":
            with cast(IO[bytes], gzip.open(stored, "rb")) as stream:
                yield stream
        elif ending == ".zip":
            with zipfile.ZipFile(stored) as archive, archive.open(_only_member(archive)) as member:
                yield member
        else:
            yield stored


def _only_member(archive: zipfile.ZipFile) -> str:
    names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX")]
    if len(names) != 1:
        raise UnreadableFileError(f"holds {len(names)} files; an archive of data holds one.")
    return names[0]


def native(stream: IO[bytes] | QuoteCounter) -> pa.PythonFile:
    """The stream as a file for Arrow's readers."""
    return pa.PythonFile(stream, mode="r")


class QuoteCounter:
    """A stream for `native` that counts the double quotes of the text that is read."""

    def __init__(self, stream: IO[bytes], encoding: str) -> None:
        self.quotes = 0
        self.closed = False
        self._stream = stream
        is_wide = encoding.startswith(("utf-16", "utf-32"))  # in the others, the byte of a quote is nothing else
        self._decode = codecs.getincrementaldecoder(encoding)("replace").decode if is_wide else None

    def read(self, size: int) -> bytes:
        part = self._stream.read(size)
        self.quotes += self._decode(part).count('"') if self._decode else part.count(b'"')
        return part

    def close(self) -> None:
        self.closed = True
