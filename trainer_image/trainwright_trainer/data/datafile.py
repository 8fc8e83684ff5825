"""One file of a data set, in the storage that holds it: the interface for readers and for the content's hash."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO

import pyarrow as pa

from trainwright_trainer.storage.base import Storage

_MARKS = ("AWS Error ", "google::cloud::Status")
"""The beginnings of the messages of S3 and of Google Cloud Storage in Arrow's errors."""
_PAST_THE_END = "HTTP status 416"
"""A part was requested that an object does not have, because it was longer when it was opened."""


@dataclass(frozen=True)
class DataFile:
    """`open` and `native` raise OSError if the file cannot be reached."""

    storage: Storage
    name: str

    def __str__(self) -> str:
        return str(self.storage.root / self.name)

    @property
    def path(self) -> PurePosixPath:
        """The path below the storage's root, used for the name and the suffixes."""
        return PurePosixPath(self.name)

    @property
    def is_remote(self) -> bool:
        return self.storage.is_remote

    def open(self) -> IO[bytes]:
        """A seekable stream at the first byte."""
        return self.storage.stream(self.name)

    def native(self) -> pa.NativeFile:
        """The same as an Arrow file, which is fastest for Arrow's readers."""
        return self.storage.open(self.name)


def is_of_a_store(error: Exception) -> bool:
    """True if Arrow reports an error of an object store or of the network. Arrow marks these by their text only."""
    return any(mark in str(error) for mark in _MARKS)


def reason_of(error: OSError) -> str:
    """The error as a short text."""
    text = f"{error}"
    if _PAST_THE_END in text:
        return "a shorter file has replaced it during the read: start again when it is written"
    found = next((text.partition(mark)[2] for mark in _MARKS if mark in text), "")
    return error.strerror or " ".join(found.split()) or text
