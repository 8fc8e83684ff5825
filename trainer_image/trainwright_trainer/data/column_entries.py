"""Column entries of the cache that are too large for the memory: read when they are used, written block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property

import pyarrow as pa

from trainwright_trainer.data import columnfile
from trainwright_trainer.data.datafile import reason_of
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.storage.base import Storage

_DAMAGED = "it is damaged; delete it and start again"
_WRONG_CHECKSUM = "could not verify page integrity"
"""Arrow raises an OSError with this text."""


class StoredColumn:
    """A column that stays in its file, for data that do not fit in memory. `values` reads it as a whole, once.

    Its checksums are compared the first time that a row group is read, not in each epoch.
    """

    def __init__(self, storage: Storage, name: str, null_count: int, notices: tuple[str, ...]) -> None:
        self._storage, self._name, self.null_count, self.notices = storage, name, null_count, notices
        self._verified: set[int] = set()

    @cached_property
    def values(self) -> pa.ChunkedArray:
        """Raises `EnvironmentFailure` if the file is damaged or cannot be read."""
        with self._opened() as file:
            return columnfile.read(file).values

    def readers(self, cores: int) -> int:
        """The columns that are read side by side."""
        return self._storage.readers(cores)

    def blocks(self) -> Iterator[pa.Array]:
        """The values, row group by row group. Raises the errors of `values`."""
        with self._opened() as file:
            yield from columnfile.blocks(file)

    def part(self, start: int, stop: int) -> pa.ChunkedArray:
        """The rows [start, stop), of which only the row groups are read. Raises the errors of `values`."""
        return pa.chunked_array(list(self.parts(start, stop)), self._footer.type)

    def parts(self, start: int, stop: int) -> Iterator[pa.Array]:
        """The same, row group by row group."""
        footer = self._footer
        with self._opened() as file:
            yield from columnfile.parts(file, footer, start, stop, self._verified)

    @cached_property
    def _footer(self) -> columnfile.Footer:
        with self._opened() as file:
            return columnfile.footer(file)

    @contextmanager
    def _opened(self) -> Iterator[pa.NativeFile]:
        place = repr(f"{self._storage.location}/{self._name}")
        try:
            with self._storage.open(self._name) as file:
                yield file
        except ValueError as error:  # pa.ArrowInvalid is one
            raise unreadable(place, _DAMAGED) from error
        except OSError as error:
            is_damaged = _WRONG_CHECKSUM in str(error)
            raise unreadable(place, _DAMAGED if is_damaged else reason_of(error)) from error


class GrowingColumn:
    """A column that is written block by block. It becomes an entry when it is committed."""

    def __init__(self, storage: Storage, name: str, type_: pa.DataType, *, nullable: bool) -> None:
        self._place = f"{storage.location}/{name}"
        self._object = storage.begin(name)
        self._writer = columnfile.ColumnWriter(self._object.file, type_, nullable=nullable)

    def write(self, values: pa.Array) -> None:
        """Raises `EnvironmentFailure`."""
        with self._raising_failure():
            self._writer.write(values)

    def commit(self, notices: Sequence[str]) -> None:
        """Raises `EnvironmentFailure`."""
        with self._raising_failure():
            self._writer.close(notices)
        self._object.commit()

    def discard(self) -> None:
        self._writer.abandon()
        self._object.discard()

    @contextmanager
    def _raising_failure(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            line = f"the cache entry {self._place!r} cannot be written ({reason_of(error)})"
            more = "the data are too large for the memory. Set backend.cache_dir to a larger place."
            raise EnvironmentFailure(f"{line}; {more}") from error


def unreadable(place: str, reason: str) -> EnvironmentFailure:
    """The failure to read the entry at `place`, as one line."""
    return EnvironmentFailure(f"the cache entry {place} cannot be read ({reason})")
