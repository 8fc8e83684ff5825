"""Write predictions block by block, as Parquet or CSV. The file appears when it is complete."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from trainwright_api.problems import Mistakes
from trainwright_trainer.data.files import Files
from trainwright_trainer.data.new_data import KEEP
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.storage.location import Place, data_place_of, located
from trainwright_trainer.storage.registry import storage_at
from trainwright_trainer.storage.s3client.job_credentials import JobCredentials


def refuse_own_data(place: Place, files: Files, dataset: str) -> None:
    """Raise `Mistakes` if `place` is a file of the data set, or lies in the folder of files that the data set is."""
    name, folder = located(place), located(files.storage.root)
    if name in {located(file.storage.root / file.name) for file in files.each}:
        raise Mistakes.one("--output", f"{place} is a file of the data set: name another file")
    if not files.is_single and folder == located(data_place_of(dataset, "dataset")) and name.startswith(f"{folder}/"):
        raise Mistakes.one("--output", f"{place} lies in the folder of the data set: name a place outside it")


@contextmanager
def writing(place: Place, keys: JobCredentials) -> Iterator[Callable[[pa.Table], None]]:
    """A function that adds rows to the file at `place`. Without rows, or after an error, there is no file.

    For an object store, it is a temporary local file that is uploaded at the end; that it may be written is checked at
    the beginning. Raises `EnvironmentFailure`, and
    `Mistakes` for kept columns that the format cannot hold.
    """
    if isinstance(place, Path):
        with _writing_here(place) as write:
            yield write
        return
    storage = storage_at(str(place.parent), keys.artifacts)
    storage.check_writable(exclusive=False)
    with TemporaryDirectory(prefix="trainwright-predictions-") as folder:
        path = Path(folder) / place.name
        with _writing_here(path) as write:
            yield write
        if path.exists():
            storage.write_file(place.name, path)


@contextmanager
def _writing_here(path: Path) -> Iterator[Callable[[pa.Table], None]]:
    aside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    file = (_CsvFile if path.suffix.lower() == ".csv" else _ParquetFile)(aside)

    def write(table: pa.Table) -> None:
        with _raising_failure(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            file.write(table)

    try:
        yield write
        with _raising_failure(path):
            file.close()
            if aside.exists():
                aside.replace(path)
    finally:
        with suppress(OSError):  # a full disk refuses the rest of a file that is not needed
            file.close()
        with suppress(OSError):
            aside.unlink()


@contextmanager
def _raising_failure(path: Path) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowTypeError, pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        line = str(error).partition("\n")[0]
        raise Mistakes.one(KEEP, f"the kept columns cannot be written as {path.suffix[1:]}: {line}") from error
    except OSError as error:
        raise EnvironmentFailure(f"{path} cannot be written: {error.strerror or error}") from error


class _CsvFile:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] | None = None

    def write(self, table: pa.Table) -> None:
        begins = self._file is None
        self._file = self._file or self._path.open("wb")
        options = pyarrow.csv.WriteOptions(include_header=begins)
        pyarrow.csv.write_csv(_without_lists(table), self._file, options)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


class _ParquetFile:
    """The types of a kept column may change from block to block. Then the blocks before are written again, widened."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writer: pq.ParquetWriter | None = None

    def write(self, table: pa.Table) -> None:
        if self._writer is not None and self._writer.schema != table.schema:
            wider = _wider(self._writer.schema, table.schema)
            if wider != self._writer.schema:
                self._begin_again(wider)
            table = table.cast(wider)
        self._writer = self._writer or pq.ParquetWriter(self._path, table.schema)
        self._writer.write_table(table)

    def _begin_again(self, schema: pa.Schema) -> None:
        self.close()
        before = self._path.with_name(f"{self._path.name}.before")
        self._path.replace(before)
        try:
            self._writer = pq.ParquetWriter(self._path, schema)
            with pq.ParquetFile(before) as file:
                for batch in file.iter_batches():
                    self._writer.write_table(pa.Table.from_batches([batch]).cast(schema))
        finally:
            before.unlink()

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


def _wider(one: pa.Schema, other: pa.Schema) -> pa.Schema:
    """The types that hold the values of both. Raises an error of Arrow for types of different kinds."""
    return pa.unify_schemas([one, other], promote_options="permissive")


def _without_lists(table: pa.Table) -> pa.Table:
    """CSV has no lists: a list becomes its items separated by spaces, for a vector a form that the reader accepts."""
    for position, field in enumerate(table.schema):
        if _is_list(field.type):
            texts = [None if row is None else " ".join(map(_text, row)) for row in table[position].to_pylist()]
            table = table.set_column(position, field.name, pa.array(texts, pa.string()))
    return table


def _is_list(kind: pa.DataType) -> bool:
    return any(test(kind) for test in (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list))


def _text(item: object) -> str:
    """A text with white space is quoted, so that it stays one item."""
    if not isinstance(item, str):
        return repr(item)
    return item if item.split() == [item] else json.dumps(item, ensure_ascii=False)
