"""The fields that the preprocessing of several feature types shares."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from trainwright_api.schema.fields import PositiveInt

MissingWord = Literal["fill_with_const", "fill_with_mode", "bfill", "ffill", "drop_row"]
NumberMissingWord = Literal["fill_with_const", "fill_with_mode", "bfill", "ffill", "drop_row", "fill_with_mean"]

MissingValueStrategy = Annotated[MissingWord, Field(description="What to do with a row whose value is missing.")]
TextFillValue = Annotated[str, Field(description="The value that fill_with_const fills in.")]
ComputedFillValue = Annotated[str, Field(description="The value that was filled in; computed, not read.")]
Lowercase = Annotated[bool, Field(description="Whether text is made lower case first.")]
MostCommon = Annotated[
    PositiveInt | None,
    Field(description="Size of the vocabulary: the most common values, null for all; the rest is unknown."),
]
CacheEncoderEmbeddings = Annotated[
    bool, Field(description="Whether the output of a fixed encoder is computed once and cached.")
]
PaddingSide = Annotated[Literal["left", "right"], Field(description="On which side short sequences are padded.")]
UNKNOWN = "<UNK>"
PADDING = "<PAD>"
