"""The fields that the preprocessing of several feature types shares."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from trainwright_api.schema.fields import PositiveInt

MissingWord = Literal["fill_with_const", "fill_with_mode", "bfill", "ffill", "drop_row"]
NumberMissingWord = Literal["fill_with_const", "fill_with_mode", "bfill", "ffill", "drop_row", "fill_with_mean"]

MissingValueStrategy = Annotated[MissingWord, Field(description="Handling of missing values.")]
TextFillValue = Annotated[str, Field(description="Value that fill_with_const uses.")]
ComputedFillValue = Annotated[str, Field(description="Value that was used. Written by the preprocessing, not read.")]
Lowercase = Annotated[bool, Field(description="Convert text to lower case.")]
MostCommon = Annotated[
    PositiveInt | None,
    Field(
        description="Maximum size of the vocabulary. The most common values are kept, others are unknown. null: "
        "no limit."
    ),
]
CacheEncoderEmbeddings = Annotated[bool, Field(description="Compute the output of a frozen encoder once and cache it.")]
PaddingSide = Annotated[Literal["left", "right"], Field(description="Side on which short sequences are padded.")]
UNKNOWN = "<UNK>"
PADDING = "<PAD>"
