"""CSV and TSV. Every column is read as text, so that no type is inferred from the first rows."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, takewhile
from operator import not_
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv

from trainwright_api.resource.dataset_options import DatasetOptions
from trainwright_trainer.data.datafile import DataFile
from trainwright_trainer.data.formats.decimal_commas import with_points
from trainwright_trainer.data.formats.dialect import (
    EIGHT_BITS,
    UTF8,
    check_encoding,
    declares_delimiter,
    dialect_of,
    refuse_utf8,
    rows_of,
)
from trainwright_trainer.data.formats.reader import UnreadableFileError
from trainwright_trainer.data.formats.signatures import refuse_binary
from trainwright_trainer.data.formats.streams import QuoteCounter, native, opened
from trainwright_trainer.features.column import Points
from trainwright_trainer.features.numerals import MISSING_WORDS

_READ_BYTES = 4 << 20
_SIGNATURE_BYTES = 4096
_LINE_END = re.compile(r"\r\n?|\n")
_END = ("\n", "end")
"""Lines that become a row of their own, unless the text before them ends within quotes."""


class DelimitedReader:
    """Reads text files of one dialect, that of `first`. White space is kept; `MISSING_WORDS` become null."""

    def __init__(self, first: DataFile, options: DatasetOptions, name: str, delimiter: str) -> None:
        self.name = name
        self._dialect = dialect_of(first, delimiter, options)
        self._is_guessed = options.encoding is None and self._dialect.encoding in EIGHT_BITS
        self._missing = [*MISSING_WORDS, *(options.na_values or ())]

    @property
    def notices(self) -> Sequence[str]:
        return self._dialect.found

    def columns(self, file: DataFile) -> list[str] | None:
        try:
            with self._parsed(file) as rows:
                first = next((row for row in rows if row), None)
        except UnicodeDecodeError:
            self._check_text(file)
            raise
        except csv.Error as error:
            raise UnreadableFileError(f"has no header that can be read: {error}.") from error
        if first is None:
            raise UnreadableFileError("is empty.")
        return first if self._dialect.has_header else [f"column_{number}" for number in range(1, len(first) + 1)]

    @contextmanager
    def _parsed(self, file: DataFile, after: Sequence[str] = ()) -> Iterator[Any]:
        """The rows, parsed one by one by a `csv.reader`, with the lines `after` at the end."""
        encoding = "utf-8-sig" if self._dialect.encoding == UTF8 else self._dialect.encoding
        skipped = self._skipped(file)
        with opened(file) as stream:
            lines = io.TextIOWrapper(stream, encoding=encoding, newline="")
            try:
                rows = rows_of(chain(lines, after), self._dialect.delimiter)
                if skipped:
                    next(rows)
                yield rows
            finally:
                lines.detach()

    def read(self, file: DataFile, columns: Sequence[str], coded: Sequence[str]) -> Iterator[pa.Table]:
        if self._is_guessed:
            refuse_utf8(file, self._dialect.encoding)
        names = self.columns(file) or []
        wanted = [name for name in names if name in columns]
        commas = [name for place, name in enumerate(names) if self._has_commas(place)]
        kinds = {name: pa.dictionary(pa.int32(), pa.string()) if name in coded else pa.string() for name in wanted}
        try:
            skipped = self._skipped(file) + (len(names) == 1 and self._blank_lines(file))
            with opened(file) as stream:
                counter = QuoteCounter(stream, self._dialect.encoding)
                with self._reader(native(counter), names, kinds, skipped) as reader:
                    for batch in reader:
                        yield with_points(pa.Table.from_batches([batch]), commas)
            if counter.quotes % 2:
                self._check_quotes(file)
        except UnicodeDecodeError:
            self._check_text(file)
            raise
        except pa.ArrowInvalid as error:
            self._explain(file, len(names))
            raise UnreadableFileError(f"cannot be read as {self.name}: {error}.") from error

    def points(self, file: DataFile) -> Mapping[str, Points]:
        """See `NumeralReader`."""
        if self._dialect.commas is not None and not self._dialect.commas:
            return {}
        names = self.columns(file) or []
        return {name: "thousands" if self._has_commas(place) else "unclear" for place, name in enumerate(names)}

    def _skipped(self, file: DataFile) -> int:
        """The number of lines before the header."""
        return int(self._dialect.is_declared and declares_delimiter(file, self._dialect.encoding))

    def _blank_lines(self, file: DataFile) -> int:
        """The number of blank lines before the header."""
        with self._parsed(file) as rows:
            return sum(1 for _ in takewhile(not_, rows)) if self._dialect.has_header else 0

    def _has_commas(self, place: int) -> bool:
        return self._dialect.commas is None or place in self._dialect.commas

    def _reader(
        self, stream: pa.NativeFile, names: Sequence[str], kinds: dict[str, pa.DataType], skipped: int
    ) -> pacsv.CSVStreamingReader:
        dialect = self._dialect
        return pacsv.open_csv(
            stream,
            read_options=pacsv.ReadOptions(
                block_size=_READ_BYTES,
                skip_rows=skipped,
                column_names=None if dialect.has_header else names,
                encoding="utf8" if dialect.encoding == UTF8 else dialect.encoding,  # Arrow's own name is fastest
            ),
            parse_options=pacsv.ParseOptions(
                delimiter=dialect.delimiter,
                newlines_in_values=True,
                ignore_empty_lines=len(names) > 1,  # with one column, an empty line is a row without its value
            ),
            convert_options=pacsv.ConvertOptions(
                include_columns=list(kinds),
                column_types=kinds,
                null_values=self._missing,
                strings_can_be_null=True,
            ),
        )

    def _check_text(self, file: DataFile) -> None:
        """Raise `UnreadableFileError` for a binary file, or for the first line in another encoding."""
        with opened(file) as stream:
            refuse_binary(stream.read(_SIGNATURE_BYTES), file.path.name)
        check_encoding(file, self._dialect.encoding)

    def _check_quotes(self, file: DataFile) -> None:
        """Raise `UnreadableFileError` if the file ends in a quoted value: Arrow takes all that follows for its text."""
        with self._parsed(file, _END) as reader:
            begin, end, last = 1, reader.line_num, []
            try:
                for row in reader:
                    begin, end, last = end + 1, reader.line_num, row
            except csv.Error:  # a text that is too long to tell
                return
        if last != [_END[-1]]:
            begin += sum(len(_LINE_END.findall(value)) for value in last[:-1])
            raise UnreadableFileError(f"has no closing quote for the value that begins with a quote in line {begin:,}.")

    def _explain(self, file: DataFile, width: int) -> None:
        """Read the file again, slowly, to find the line with the error and raise `UnreadableFileError` for it."""
        self._check_text(file)
        with self._parsed(file) as reader:
            begin = reader.line_num + 1
            try:
                for row in reader:
                    if row and len(row) != width:
                        self._check_quotes(file)
                        raise UnreadableFileError(
                            f"has {len(row)} values in line {reader.line_num:,}, its header has {width}."
                        )
                    begin = reader.line_num + 1
            except csv.Error as error:
                raise UnreadableFileError(f"cannot be read in line {begin:,}: {error}.") from error
