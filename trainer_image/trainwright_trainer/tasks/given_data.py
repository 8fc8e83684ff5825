"""In-memory data sets of the Python API. Each becomes a Parquet file that exists as long as the call.

The cache and resume use the hash of the file's content, so the same table hits the same cache.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from trainwright_api.problems import Mistakes
from trainwright_trainer.errors import EnvironmentFailure

if TYPE_CHECKING:
    import pyarrow as pa

    from trainwright_trainer.data.datasets import DataFiles, DataTable


class ArrowTable(Protocol):
    """A table that Arrow can read: of pandas, pyarrow, polars and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


Data = str | os.PathLike[str] | ArrowTable
Frame = TypeVar("Frame", bound=ArrowTable)
_EXPECTED = "expected a path, a pandas DataFrame or an Arrow table"
# Messages name the file, so the user reads this name.
_NAME = "DataFrame.parquet"


def is_in_memory(data: object) -> bool:
    return data is not None and not isinstance(data, str | os.PathLike)


def folder_of(data: object) -> str | None:
    """The folder of data in memory, which is the working folder. None: the data are files."""
    return "." if is_in_memory(data) else None


@contextmanager
def path_of(data: Data | None) -> Iterator[str | None]:
    """Yield the path of the data. A table is written to a temporary file, which is deleted on exit."""
    if data is None or isinstance(data, str | os.PathLike):
        yield None if data is None else os.fspath(data)
        return
    table = table_of(data)
    with TemporaryDirectory(prefix="trainwright-data-") as folder:
        path = Path(folder, _NAME)
        _write(table, path)
        yield str(path)


def table_of(data: object) -> pa.Table:
    """The columns as a flat Arrow table, without index and metadata. Raises `Mistakes` if `data` is not a table."""
    import pyarrow as pa

    from trainwright_trainer.data.table_schema import flat

    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(data, pandas.DataFrame):
        return flat(_of_pandas(data))
    mistake = Mistakes.one("dataset", f"{_EXPECTED}, found an object of type {type(data).__name__}")
    if not hasattr(data, "__arrow_c_stream__"):
        raise mistake
    try:
        return flat(pa.table(data).replace_schema_metadata(None))
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:  # a column or a row: a Series
        raise mistake from error


def names_to_keep(keep: Sequence[str]) -> tuple[str, ...]:
    """The names of columns, as texts. Raises `Mistakes` for a single text, which is a sequence of characters."""
    if isinstance(keep, str):
        raise Mistakes.one("keep", f"expected a list of columns, found the text {keep!r}: write [{keep!r}]")
    return tuple(str(name) for name in keep)


def given_data(data: Data, na_values: Sequence[str] = ()) -> DataFiles | DataTable:
    """The data to read block by block, without a copy on the disk. Raises `Mistakes` if there are none.

    `na_values`: the words that count as missing, in addition to the usual ones.
    """
    from trainwright_api.resource.dataset_options import DatasetOptions
    from trainwright_trainer.data.datasets import DataFiles, DataTable
    from trainwright_trainer.data.files import find
    from trainwright_trainer.data.formats.missing_words import without_na_values

    if isinstance(data, str | os.PathLike):
        return DataFiles(find(os.fspath(data), options=DatasetOptions(na_values=list(na_values) or None)))
    table = table_of(data)
    return DataTable(without_na_values(table, na_values) if na_values else table, "the table")


def as_given(data: object, table: pa.Table) -> Any:
    """The table as the kind of table that `data` is: of pandas, with the same index, of polars, or of Arrow."""
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if pandas is not None and isinstance(data, pandas.DataFrame):
        return table.to_pandas().set_axis(data.index)
    if polars is not None and isinstance(data, polars.DataFrame):
        return polars.from_arrow(table)
    return table


def _of_pandas(frame: Any) -> pa.Table:
    import pyarrow as pa

    columns = [_column(frame.iloc[:, position]) for position in range(frame.shape[1])]
    return pa.table(columns, names=[str(name) for name in frame.columns])


def _column(series: Any) -> pa.Array | pa.ChunkedArray:
    """Convert one column. A column of mixed types becomes text, as in JSON lines."""
    import pyarrow as pa

    try:
        found = pa.array(series, from_pandas=True)
        return found.cast(found.type.value_type) if pa.types.is_dictionary(found.type) else found
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        texts = [None if lacks else str(value) for value, lacks in zip(series, series.isna(), strict=True)]
    try:
        return pa.array(texts)
    except UnicodeEncodeError as error:
        raise Mistakes.one("dataset", f"column {str(series.name)!r} has text that is no Unicode: {error}") from error


def _write(table: pa.Table, path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        parquet.write_table(table, path)
    except pa.ArrowException as error:
        line = str(error).partition("\n")[0]
        raise Mistakes.one("dataset", f"the table cannot be kept as Parquet: {line}") from error
    except OSError as error:
        raise EnvironmentFailure(f"{path} cannot be written: {error.strerror or error}") from error
