"""Folders called `key=value`, as Hive and Spark write them: each key is a column of the files below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from urllib.parse import unquote

import pyarrow as pa

_NULL = "__HIVE_DEFAULT_PARTITION__"
"""The value of the folder with the rows whose key is null."""


def keys_of(name: str) -> Mapping[str, str | None]:
    """The keys and values in the folders of a file's name. None: null."""
    pairs = [part.partition("=") for part in PurePosixPath(name).parts[:-1] if "=" in part]
    return {unquote(key): None if value == _NULL else unquote(value) for key, _, value in pairs}


def with_keys(table: pa.Table, keys: Mapping[str, str | None], na_values: Sequence[str] = ()) -> pa.Table:
    """The table with a column of text for each key; null for one of `na_values`. A folder's value replaces a column of
    the file."""
    kept = table.drop_columns([name for name in dict.fromkeys(table.column_names) if name in keys])
    for key, value in keys.items():
        given = None if value in na_values else value
        kept = kept.append_column(key, pa.repeat(pa.scalar(given, pa.string()), len(table)))
    return kept
