"""The dialect of a CSV file: its encoding, its delimiter and its decimal comma, from the job's options or else from the
file's head."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from trainwright_api.resource.dataset_options import DatasetOptions
from trainwright_trainer.data.datafile import DataFile
from trainwright_trainer.data.formats.decimal_commas import comma_columns
from trainwright_trainer.data.formats.reader import UnreadableFileError
from trainwright_trainer.data.formats.signatures import refuse_binary
from trainwright_trainer.data.formats.streams import opened

HEAD_BYTES = 1 << 18
"""A dialect follows from at most this many bytes, so that it is known before a large file is read."""
LONGEST_VALUE = 8 << 20
"""A longer text is rather the rest of a file after a stray quote, so it is not read into memory to find an error."""
UTF8 = "utf-8"
EIGHT_BITS = ("windows-1252", "latin-1")
"""The code pages in which a text is read that is neither UTF-8 nor UTF-16. Nearly every file fits them."""
_DELIMITERS = (",", ";", "|", "\t")
_SAMPLE_ROWS = 200
_FIT = 0.9
"""The least share of the sampled rows that must have as many values as the header. One broken row may be among them."""
_DECLARED = re.compile(r'"?sep=([^\w"\r\n])"?(?:\r\n?|\n)', re.IGNORECASE)
"""The line by which Excel knows the delimiter of a file."""
_DECLARED_BYTES = 64
_NAME_IT = "Set datasetOptions.encoding, as in windows-1252."
# The mark of UTF-32 begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, UTF8),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True)
class Dialect:
    """The delimiter and the encoding of a file. `found` has a line for a value that differs from the usual one and is
    not given. `commas`: the places of the columns with decimal commas; None: all columns can have them. `is_declared`:
    a line before the header names the delimiter."""

    delimiter: str
    encoding: str
    has_header: bool
    commas: frozenset[int] | None = frozenset()
    found: tuple[str, ...] = ()
    is_declared: bool = False


def dialect_of(file: DataFile, usual: str, options: DatasetOptions) -> Dialect:
    """The dialect of a file. `usual` is the delimiter that its format names. Raises OSError, `UnreadableFileError`."""
    with opened(file) as stream:
        head = stream.read(HEAD_BYTES)
    refuse_binary(head, file.path.name)
    is_whole = len(head) < HEAD_BYTES
    encoding = options.encoding or encoding_of(head)
    text, has_header = _text_of(head, encoding), options.header is not False
    declared = _DECLARED.match(text)
    text = text[declared.end() :] if declared else text
    delimiter = options.delimiter or (declared[1] if declared else delimiter_of(text, usual, is_whole))
    commas = None if options.decimal == "," else frozenset[int]()
    if options.decimal is None and delimiter != ",":
        commas = comma_columns(_even_rows(text, delimiter, is_whole)[has_header:])
    found = [f"delimiter {delimiter!r}"] if delimiter not in (options.delimiter, usual) else []
    found += [f"encoding {encoding}"] if encoding not in (options.encoding, UTF8) else []
    found += ["decimal comma"] if commas else []
    listed = " and ".join([*([", ".join(found[:-1])] if found[1:] else []), *found[-1:]])
    line = f"read with {listed}, as its first rows show; datasetOptions sets another"
    return Dialect(delimiter, encoding, has_header, commas, (line,) if found else (), declared is not None)


def declares_delimiter(file: DataFile, encoding: str) -> bool:
    """True if the first line of the file names the delimiter, as in `sep=;`."""
    with opened(file) as stream:
        return _DECLARED.match(_text_of(stream.read(_DECLARED_BYTES), encoding)) is not None


def encoding_of(head: bytes) -> str:
    """The encoding of a text that begins with `head`: the one of its mark, UTF-8, UTF-16 or a code page of 8 bits."""
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    if _fits(head, UTF8) and b"\0" not in head:
        return UTF8
    if b"\0" in head:
        # In UTF-16, the characters of ASCII have a zero byte at every second place.
        zeros = [head[start::2].count(0) for start in (0, 1)]
        if max(zeros) < len(head) / 4 or min(zeros) > len(head) / 100:
            return UTF8  # the reader names the byte that is not text
        return "utf-16-be" if zeros[0] > zeros[1] else "utf-16-le"
    return next(name for name in EIGHT_BITS if _fits(head, name))


def _fits(head: bytes, encoding: str) -> bool:
    """True if `head` can be the beginning of a text. Its last character may be cut."""
    try:
        codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def _text_of(head: bytes, encoding: str) -> str:
    return codecs.getincrementaldecoder(encoding)("replace").decode(head).removeprefix("\ufeff")


def delimiter_of(text: str, usual: str, is_whole: bool) -> str:
    """The delimiter with which the rows have as many values as the first one, and at least two.

    Of several the one with the most values, then `usual`. Without one it is `usual`: the file may have one column.
    """
    widths = {delimiter: _width(text, delimiter, is_whole) for delimiter in (usual, *_DELIMITERS)}
    best = max(widths, key=widths.__getitem__)  # of equal ones the first
    return best if widths[best] > 1 else usual


def _width(text: str, delimiter: str, is_whole: bool) -> int:
    """The number of values of the first row, or 0 if too many rows have another number."""
    rows = _whole_rows(text, delimiter, is_whole)
    fit = sum(len(row) == len(rows[0]) for row in rows)
    return len(rows[0]) if rows and fit >= _FIT * len(rows) else 0


def _even_rows(text: str, delimiter: str, is_whole: bool) -> list[Sequence[str]]:
    """The first rows, those that have as many values as the first one."""
    rows = _whole_rows(text, delimiter, is_whole)
    return [row for row in rows if len(row) == len(rows[0])]


def _whole_rows(text: str, delimiter: str, is_whole: bool) -> list[Sequence[str]]:
    rows = list(_rows(text, delimiter))
    if not is_whole and len(rows) > 1:
        rows.pop()  # it may be cut
    return rows


def _rows(text: str, delimiter: str) -> Iterator[Sequence[str]]:
    """The first rows. A row that cannot be parsed ends them."""
    reader = rows_of(io.StringIO(text, newline=""), delimiter)
    try:
        for row in reader:
            if row:
                yield row
            if reader.line_num > _SAMPLE_ROWS:
                return
    except csv.Error:
        return


def rows_of(lines: Iterable[str], delimiter: str) -> Any:
    """A `csv.reader` that takes values of up to `LONGEST_VALUE` characters."""
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_VALUE))  # the limit is one of the process
    return csv.reader(lines, delimiter=delimiter)


def refuse_utf8(file: DataFile, encoding: str) -> None:
    """Raise `UnreadableFileError` if the head of the file is UTF-8 and not `encoding`, that of the first file."""
    with opened(file) as stream:
        head = stream.read(HEAD_BYTES)
    if not head.isascii() and _fits(head, UTF8):
        raise UnreadableFileError(f"is UTF-8, and the first file is {encoding}. Write all files in one encoding.")


def check_encoding(file: DataFile, encoding: str, remedy: str = _NAME_IT) -> None:
    """Raise `UnreadableFileError` for the first line that is not in `encoding`. Called after a read has failed."""
    decoder, number = codecs.getincrementaldecoder(encoding)(), 1
    with opened(file) as stream:
        for line in stream:
            try:
                number += decoder.decode(line).count("\n")
            except UnicodeDecodeError as error:
                byte = error.object[error.start]
                raise UnreadableFileError(
                    f"is not {encoding.upper()}: line {number:,} holds the byte 0x{byte:02x}. {remedy}"
                ) from None
