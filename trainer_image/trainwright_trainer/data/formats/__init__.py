"""The file formats of data sets: one reader for each family, chosen by the file's suffix."""

from __future__ import annotations

from pathlib import PurePath

from trainwright_trainer.data.formats import delimited, feather, jsonlines, parquet
from trainwright_trainer.data.formats.reader import Reader

READERS: dict[str, Reader] = {
    ".parquet": parquet.ParquetReader(),
    ".pq": parquet.ParquetReader(),
    ".feather": feather.FeatherReader(),
    ".arrow": feather.FeatherReader(),
    ".csv": delimited.DelimitedReader("CSV", ","),
    ".tsv": delimited.DelimitedReader("TSV", "\t"),
    ".jsonl": jsonlines.JsonLinesReader(),
    ".ndjson": jsonlines.JsonLinesReader(),
    ".json": jsonlines.JsonLinesReader(),
}
COMPRESSIONS = (".gz", ".zip")


def format_of(path: PurePath) -> str | None:
    """The file's suffix in `READERS`, without a suffix of compression; None if this version does not read the file."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compressed = bool(suffixes) and suffixes[-1] in COMPRESSIONS
    suffix = suffixes[-2] if compressed and len(suffixes) > 1 else (suffixes[-1] if suffixes else "")
    if suffix not in READERS or (compressed and not READERS[suffix].is_text):
        return None
    return suffix
