"""The data sets that a trained model reads: files, or a table in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa

from trainwright_trainer.data import source
from trainwright_trainer.data.agreement import Wanted, check_names
from trainwright_trainer.data.content import confirm
from trainwright_trainer.data.files import Files
from trainwright_trainer.data.formats import FORMATS
from trainwright_trainer.data.rows import Block, blocks_of
from trainwright_trainer.data.table_schema import flat
from trainwright_trainer.features.column import Points
from trainwright_trainer.frames.interface import Source
from trainwright_trainer.storage.base import Storage
from trainwright_trainer.storage.registry import storage_of
from trainwright_trainer.storage.s3client.credentials import S3Credentials


@dataclass(frozen=True)
class DataFiles:
    """The files of a data set."""

    files: Files
    access: S3Credentials | None = None
    """The keys for files that the data name; None takes them from the environment."""
    folder: Storage | None = None
    """The folder to which paths in the data are relative. None: that of the files."""

    @property
    def home(self) -> Storage:
        return self.folder or self.files.storage

    @property
    def may_have_bytes(self) -> bool:
        """True if a column may hold bytes, such as images."""
        return FORMATS[self.files.format].has_bytes

    @property
    def name(self) -> str:
        return self.files.dataset

    def watch(self) -> Callable[[], None]:
        """A function that raises `Mistakes` if a file has changed since this call."""
        return partial(confirm, self.files, self.files.look())

    def columns(self) -> Sequence[str]:
        """Raises `Mistakes` and `EnvironmentFailure`."""
        return source.columns_of(self.files)

    def points(self) -> Mapping[str, Points]:
        """See `source.points`."""
        return source.points(self.files)

    def source(self, wanted: Wanted, coded: Sequence[str], block_rows: int | None = None) -> Source[Block]:
        source.check(self.files, wanted)
        return source.DataSource(self.files, wanted, coded, block_rows)

    def notices(self) -> Sequence[str]:
        return source.notices(self.files)


@dataclass(frozen=True)
class DataTable:
    """A table in memory."""

    table: pa.Table
    name: str
    access: S3Credentials | None = None
    folder: Storage | None = None
    """The folder to which paths in the table are relative. None: the working folder."""
    may_have_bytes = True

    @property
    def home(self) -> Storage:
        return self.folder or storage_of(Path())

    def watch(self) -> Callable[[], None]:
        return lambda: None

    def columns(self) -> Sequence[str]:
        return list(self._flat.column_names)

    def points(self) -> Mapping[str, Points]:
        """None: in the texts of a table, a point separates decimals."""
        return {}

    def source(self, wanted: Wanted, coded: Sequence[str], block_rows: int | None = None) -> Source[Block]:  # noqa: ARG002
        """Raises `Mistakes` for columns that the table lacks."""
        table = self._flat
        check_names(self.name, table.column_names, wanted)
        return _TableSource(table.select(sorted({column for _, column in wanted})), block_rows)

    def notices(self) -> Sequence[str]:
        return ()

    @property
    def _flat(self) -> pa.Table:
        return flat(self.table)


@dataclass(frozen=True)
class _TableSource:
    table: pa.Table
    block_rows: int | None

    def blocks(self) -> Iterator[Block]:
        return blocks_of([self.table] if len(self.table) else [], block_rows=self.block_rows)

    def divisible(self) -> None:
        """None: the table is in the memory of this process."""
