"""The file formats of data sets: one reader for each family, chosen by the file's suffix or by the job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath

from trainwright_api.problems import Mistakes
from trainwright_api.resource.dataset_options import DatasetOptions
from trainwright_trainer.data.datafile import DataFile
from trainwright_trainer.data.formats.delimited import DelimitedReader
from trainwright_trainer.data.formats.excel import ExcelReader
from trainwright_trainer.data.formats.feather import FeatherReader
from trainwright_trainer.data.formats.json_rows import JsonReader
from trainwright_trainer.data.formats.missing_words import ReaderWithMissingWords
from trainwright_trainer.data.formats.parquet import ParquetReader
from trainwright_trainer.data.formats.reader import Reader

COMPRESSIONS = (".gz", ".zip")
_OF_CSV = ("delimiter", "encoding", "decimal", "header")


@dataclass(frozen=True)
class Format:
    """A file format. `make` returns the reader of all files of a data set, from the first file and the options."""

    name: str
    suffixes: tuple[str, ...]
    make: Callable[[DataFile, DatasetOptions], Reader]
    is_text: bool = False
    """True if a file may be compressed as a whole."""
    has_dialect: bool = False
    """True if the options `_OF_CSV` act. Such a reader knows the words for a missing value itself."""
    has_keys: bool = False
    """True if each row names its columns. A column that a file lacks is missing in all rows of the file."""
    has_bytes: bool = False
    """True if a column may hold bytes, such as images."""


def _plain(make: Callable[[], Reader]) -> Callable[[DataFile, DatasetOptions], Reader]:
    return lambda _, options: ReaderWithMissingWords(make(), options.na_values) if options.na_values else make()


FORMATS: Mapping[str, Format] = {
    "parquet": Format("Parquet", (".parquet", ".pq"), _plain(ParquetReader), has_bytes=True),
    "feather": Format("Feather", (".feather", ".arrow"), _plain(FeatherReader), has_bytes=True),
    "csv": Format("CSV", (".csv",), partial(DelimitedReader, name="CSV", delimiter=","), True, True),
    "tsv": Format("TSV", (".tsv",), partial(DelimitedReader, name="TSV", delimiter="\t"), True, True),
    "excel": Format("Excel", (".xlsx", ".xls"), _plain(ExcelReader)),
    "json": Format("JSON", (".json", ".jsonl", ".ndjson"), _plain(JsonReader), True, has_keys=True),
}
SUFFIXES: Mapping[str, str] = {suffix: word for word, each in FORMATS.items() for suffix in each.suffixes}


def format_of(path: PurePath) -> str | None:
    """The format that the file's suffix names, without a suffix of compression; None if this version lacks it."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compressed = bool(suffixes) and suffixes[-1] in COMPRESSIONS
    suffix = suffixes[-2] if compressed and len(suffixes) > 1 else (suffixes[-1] if suffixes else "")
    word = SUFFIXES.get(suffix)
    return None if word is None or (compressed and not FORMATS[word].is_text) else word


def refuse_idle_options(word: str, options: DatasetOptions) -> None:
    """Raise `Mistakes` for options that do not act with the format."""
    if FORMATS[word].has_dialect:
        return
    for name in _OF_CSV:
        if getattr(options, name) is not None:
            line = f"acts with CSV and TSV only, the data set is {FORMATS[word].name}"
            raise Mistakes.one(f"datasetOptions.{name}", line)
