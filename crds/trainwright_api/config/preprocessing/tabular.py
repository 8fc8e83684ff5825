"""The preprocessing parameters of number, binary, category, date and vector columns."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from trainwright_api.config.preprocessing.fields import (
    UNKNOWN,
    CacheEncoderEmbeddings,
    ComputedFillValue,
    Lowercase,
    MissingValueStrategy,
    MostCommon,
    NumberMissingWord,
    TextFillValue,
)
from trainwright_api.schema.fields import NoneWord, NonNegativeFloat, PositiveInt
from trainwright_api.schema.section import Section, shown
from trainwright_api.schema.unions import ByKind

_BOOLEANS = frozenset(
    ("yes", "y", "true", "t", "1", "1.0", "no", "n", "false", "f", "0", "0.0", "-1", "-1.0"),
)


def _boolean(word: str) -> str:
    if word.casefold() not in _BOOLEANS:
        raise ValueError(word)
    return word


def _numbers(text: str) -> str:
    try:
        for word in text.split():
            float(word)
    except ValueError:
        found = {"expected": "numbers with spaces between", "found": shown(text)}
        raise PydanticCustomError("kind", "expected {expected}, found {found}", found) from None
    return text


BinaryFill = Annotated[
    bool | float | str | None,
    ByKind(
        "true or false, a number from 0 to 1, or a word such as yes or no",
        flag=bool,
        number=Annotated[float, Field(ge=0, le=1)],
        text=Annotated[str, AfterValidator(_boolean)],
    ),
]
NumbersText = Annotated[str, AfterValidator(_numbers)]
BinaryMissing = Annotated[
    Literal["fill_with_mode", "bfill", "ffill", "drop_row", "fill_with_false", "fill_with_true"],
    Field(description="Handling of missing values."),
]
NumberMissing = Annotated[NumberMissingWord, Field(description="Handling of missing values.")]
Normalization = Annotated[
    Literal["zscore", "minmax", "log1p", "iq"] | None,
    NoneWord,
    Field(description="Normalization, with statistics of the training rows. null: none."),
]
VectorSize = Annotated[PositiveInt | None, Field(description="Length of each vector. null: derived from the data.")]


class NumberPreprocessing(Section):
    """Preprocessing of a number column."""

    missing_value_strategy: NumberMissing = "fill_with_const"
    fill_value: float = Field(0.0, description="Value that fill_with_const uses.")
    computed_fill_value: float = Field(0.0, description="Value that was used. Written by the preprocessing, not read.")
    normalization: Normalization = "zscore"
    outlier_strategy: Annotated[NumberMissingWord | None, NoneWord] = Field(
        None, description="Handling of outliers, with the values of missing_value_strategy. null: keep them."
    )
    outlier_threshold: NonNegativeFloat = Field(
        3.0, description="Distance from the mean, in standard deviations, beyond which a value is an outlier."
    )
    computed_outlier_fill_value: float = Field(
        0.0, description="Value that replaced outliers. Written by the preprocessing, not read."
    )


class NumberOutputPreprocessing(NumberPreprocessing):
    """Preprocessing of a target column of numbers."""

    missing_value_strategy: NumberMissing = "drop_row"
    normalization: Normalization = None


class BinaryPreprocessing(Section):
    """Preprocessing of a binary column."""

    missing_value_strategy: BinaryMissing = "fill_with_false"
    fallback_true_label: str | None = Field(
        None,
        description="The value that means true. null: yes, true, 1 and the like, else the first in the alphabet.",
    )
    fill_value: BinaryFill | None = Field(
        None, description="Value that the strategies fill_with_… use. null: the strategy decides."
    )
    computed_fill_value: BinaryFill | None = Field(
        None, description="Value that was used. Written by the preprocessing, not read."
    )


class BinaryOutputPreprocessing(BinaryPreprocessing):
    """Preprocessing of a binary target column."""

    missing_value_strategy: BinaryMissing = "drop_row"


class CategoryPreprocessing(Section):
    """Preprocessing of a category column."""

    missing_value_strategy: MissingValueStrategy = "fill_with_const"
    fill_value: TextFillValue = UNKNOWN
    computed_fill_value: ComputedFillValue = UNKNOWN
    lowercase: Lowercase = False
    most_common: MostCommon = 10000
    cache_encoder_embeddings: CacheEncoderEmbeddings = False


class CategoryOutputPreprocessing(CategoryPreprocessing):
    """Preprocessing of a target column of classes."""

    missing_value_strategy: MissingValueStrategy = "drop_row"


class CategoryDistributionOutputPreprocessing(Section):
    """Preprocessing of a target column of class probabilities."""

    missing_value_strategy: MissingValueStrategy = "drop_row"
    vocab: list[str] | None = Field(None, description="The classes, in the order of the probabilities.")


class DatePreprocessing(Section):
    """Preprocessing of a date column."""

    missing_value_strategy: Literal["fill_with_const", "bfill", "ffill", "drop_row"] = Field(
        "fill_with_const", description="Handling of missing values."
    )
    fill_value: TextFillValue = ""
    computed_fill_value: ComputedFillValue = ""
    datetime_format: str | None = Field(
        None, description="Format of the dates for strptime. null: ISO 8601 and the forms of docs/files.md."
    )


class VectorPreprocessing(Section):
    """Preprocessing of a vector column."""

    vector_size: VectorSize = None
    missing_value_strategy: MissingValueStrategy = "fill_with_const"
    fill_value: NumbersText = Field("", description="Numbers, separated by spaces, that fill_with_const uses.")
    computed_fill_value: NumbersText = Field(
        "", description="Value that was used. Written by the preprocessing, not read."
    )


class VectorOutputPreprocessing(VectorPreprocessing):
    """Preprocessing of a target column of vectors."""

    missing_value_strategy: MissingValueStrategy = "drop_row"
