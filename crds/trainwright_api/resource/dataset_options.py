"""The section `datasetOptions`: how the files of the data set are read."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from trainwright_api.resource.kubernetes import DELIMITER
from trainwright_api.schema.section import KubernetesSection

FileFormat = Literal["csv", "tsv", "json", "parquet", "feather", "excel"]
Encoding = Literal[
    "utf-8",
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "utf-32",
    "latin-1",
    "windows-1252",
    "iso-8859-2",
    "iso-8859-15",
    "windows-1250",
    "windows-1251",
    "windows-1253",
    "windows-1254",
    "koi8-r",
    "shift-jis",
    "euc-jp",
    "euc-kr",
    "gb18030",
    "big5",
]
"""Encodings by names that Python's codecs know."""


class DatasetOptions(KubernetesSection):
    """The reading of the files of the data set. Absent fields follow from the names and the first rows of the files."""

    format: FileFormat | None = Field(
        None,
        description="The format of all files. json: one object a line, or one array of objects. Absent: the format "
        "that the ending of each file names.",
    )
    delimiter: Annotated[str, Field(max_length=1, pattern=DELIMITER)] | None = Field(
        None, description="The delimiter of CSV and TSV. Absent: the one of , ; | and tab that fits the first rows."
    )
    encoding: Encoding | None = Field(
        None,
        description="The encoding of CSV and TSV. Absent: UTF-8, UTF-16 or windows-1252, as the first rows show.",
    )
    decimal: Literal[".", ","] | None = Field(
        None,
        description="The mark before the decimals of numbers in CSV and TSV. Absent: the one that the first rows show, "
        "or a point if the delimiter is a comma.",
    )
    na_values: Annotated[list[Annotated[str, Field(max_length=256)]], Field(max_length=100)] | None = Field(
        None, description="Texts that count as missing in every column, in addition to the usual ones."
    )
    header: bool | None = Field(
        None,
        description="Whether the first row of CSV and TSV holds the names of the columns (default: true). false: the "
        "columns are called column_1, column_2 and so on.",
    )
