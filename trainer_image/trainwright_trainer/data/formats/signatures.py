"""The first bytes of files that are no text: archives and tables whose names have the ending of a text file."""

from __future__ import annotations

import re

from trainwright_trainer.data.formats.reader import UnreadableFileError

_KINDS = (
    (rb"\x1f\x8b", "a gzip archive: end its name in .gz, as in {name}.gz"),
    (rb"PK\x03\x04.{26}(\[Content_Types\]|_rels/|docProps/|xl/)", "an Excel workbook: end its name in .xlsx"),
    (rb"PK\x03\x04", "a zip archive: end its name in .zip, as in {name}.zip"),
    (rb"\xd0\xcf\x11\xe0", "an Excel workbook: end its name in .xls"),
    (rb"PAR1.*\0", "a Parquet file: end its name in .parquet"),
    (rb"ARROW1\0\0", "a Feather file: end its name in .feather"),
    (rb"\x28\xb5\x2f\xfd", "a Zstandard archive: compress it with gzip, and end its name in .gz, as in {stem}.gz"),
    (rb"BZh[1-9]1AY&SY", "a bzip2 archive: compress it with gzip, and end its name in .gz, as in {stem}.gz"),
)
"""A pattern of the first bytes, and the kind with the remedy. A text may begin with PAR1, but holds no zero byte."""


def refuse_binary(head: bytes, name: str) -> None:
    """Raise `UnreadableFileError` if a file that begins with `head` is an archive or a table in a binary format."""
    for pattern, line in _KINDS:
        if re.match(pattern, head, re.DOTALL):
            stem = re.sub(r"\.(bz2|zst|zstd)$", "", name, flags=re.IGNORECASE)
            raise UnreadableFileError(f"is {line.format(name=name, stem=stem)}.")
