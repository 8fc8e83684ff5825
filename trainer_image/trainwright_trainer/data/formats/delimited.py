"""CSV and TSV. Every column is read as text, so that no type is inferred from the first rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.csv as pacsv

from trainwright_trainer.data.datafile import DataFile
from trainwright_trainer.data.formats.reader import UnreadableFileError
from trainwright_trainer.data.formats.streams import check_utf8, native, opened
from trainwright_trainer.features.numerals import MISSING_WORDS

_READ_BYTES = 4 << 20


class DelimitedReader:
    """Reads one text file with a header and a delimiter. White space is kept; `MISSING_WORDS` become null."""

    is_text = True

    def __init__(self, name: str, delimiter: str) -> None:
        self.name = name
        self._delimiter = delimiter

    def columns(self, file: DataFile) -> list[str] | None:
        with opened(file) as stream:
            lines = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
            try:
                header = next((row for row in csv.reader(lines, delimiter=self._delimiter) if row), None)
            except UnicodeDecodeError:
                check_utf8(file)
                raise
            except csv.Error as error:
                raise UnreadableFileError(f"has no header that can be read: {error}.") from error
            finally:
                lines.detach()
        if header is None:
            raise UnreadableFileError("is empty.")
        return header

    def read(self, file: DataFile, columns: Sequence[str], coded: Sequence[str]) -> Iterator[pa.Table]:
        names = self.columns(file) or []
        wanted = [name for name in names if name in columns]
        kinds = {name: pa.dictionary(pa.int32(), pa.string()) if name in coded else pa.string() for name in wanted}
        try:
            with opened(file) as stream, self._reader(native(stream), kinds) as reader:
                for batch in reader:
                    yield pa.Table.from_batches([batch])
        except pa.ArrowInvalid as error:
            self._explain(file, len(names))
            raise UnreadableFileError(f"cannot be read as {self.name}: {error}.") from error

    def _reader(self, stream: pa.NativeFile, kinds: dict[str, pa.DataType]) -> pacsv.CSVStreamingReader:
        return pacsv.open_csv(
            stream,
            read_options=pacsv.ReadOptions(block_size=_READ_BYTES),
            parse_options=pacsv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True),
            convert_options=pacsv.ConvertOptions(
                include_columns=list(kinds),
                column_types=kinds,
                null_values=list(MISSING_WORDS),
                strings_can_be_null=True,
            ),
        )

    def _explain(self, file: DataFile, width: int) -> None:
        """Read the file again, slowly, to find the line with the error and raise `UnreadableFileError` for it."""
        check_utf8(file)
        with opened(file) as stream:
            lines = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
            reader = csv.reader(lines, delimiter=self._delimiter)
            try:
                for row in reader:
                    if row and len(row) != width:
                        raise UnreadableFileError(
                            f"has {len(row)} values in line {reader.line_num:,}, its header has {width}."
                        )
            except csv.Error as error:
                raise UnreadableFileError(f"cannot be read in line {reader.line_num:,}: {error}.") from error
            finally:
                lines.detach()
