"""How columns of numbers, words, dates and vectors are read."""

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
    Field(description="What to do with a row whose value is missing."),
]
NumberMissing = Annotated[NumberMissingWord, Field(description="What to do with a row whose value is missing.")]
Normalization = Annotated[
    Literal["zscore", "minmax", "log1p", "iq"] | None,
    NoneWord,
    Field(description="How numbers are scaled, with statistics of the training rows; null for not at all."),
]
VectorSize = Annotated[PositiveInt | None, Field(description="Numbers in each vector; found from the data where null.")]


class NumberPreprocessing(Section):
    """How a column of numbers is read."""

    missing_value_strategy: NumberMissing = "fill_with_const"
    fill_value: float = Field(0.0, description="The value that fill_with_const fills in.")
    computed_fill_value: float = Field(0.0, description="The value that was filled in; computed, not read.")
    normalization: Normalization = "zscore"
    outlier_strategy: Annotated[NumberMissingWord | None, NoneWord] = Field(
        None, description="What to do with outliers, in the words of missing_value_strategy; null keeps them."
    )
    outlier_threshold: NonNegativeFloat = Field(
        3.0, description="Standard deviations from the mean past which a value is an outlier."
    )
    computed_outlier_fill_value: float = Field(0.0, description="The value that replaced outliers; computed, not read.")


class NumberOutputPreprocessing(NumberPreprocessing):
    """How a target of numbers is read."""

    missing_value_strategy: NumberMissing = "drop_row"
    normalization: Normalization = None


class BinaryPreprocessing(Section):
    """How a column of yes and no is read."""

    missing_value_strategy: BinaryMissing = "fill_with_false"
    fallback_true_label: str | None = Field(
        None, description="The label that means true where the column's words are not of the usual kind."
    )
    fill_value: BinaryFill | None = Field(
        None, description="The value for missing rows; null leaves it to the strategy."
    )
    computed_fill_value: BinaryFill | None = Field(
        None, description="The value that was filled in; computed, not read."
    )


class BinaryOutputPreprocessing(BinaryPreprocessing):
    """How a target of yes and no is read."""

    missing_value_strategy: BinaryMissing = "drop_row"


class CategoryPreprocessing(Section):
    """How a column of classes is read."""

    missing_value_strategy: MissingValueStrategy = "fill_with_const"
    fill_value: TextFillValue = UNKNOWN
    computed_fill_value: ComputedFillValue = UNKNOWN
    lowercase: Lowercase = False
    most_common: MostCommon = 10000
    cache_encoder_embeddings: CacheEncoderEmbeddings = False


class CategoryOutputPreprocessing(CategoryPreprocessing):
    """How a target of classes is read."""

    missing_value_strategy: MissingValueStrategy = "drop_row"


class CategoryDistributionOutputPreprocessing(Section):
    """How a target of class probabilities is read."""

    missing_value_strategy: MissingValueStrategy = "drop_row"
    vocab: list[str] | None = Field(None, description="The classes, in the order of the probabilities.")


class DatePreprocessing(Section):
    """How a column of dates is read."""

    missing_value_strategy: Literal["fill_with_const", "bfill", "ffill", "drop_row"] = Field(
        "fill_with_const", description="What to do with a row whose value is missing."
    )
    fill_value: TextFillValue = ""
    computed_fill_value: ComputedFillValue = ""
    datetime_format: str | None = Field(
        None, description="Format of the dates, as strptime has it; null for ISO 8601 and other common forms."
    )


class VectorPreprocessing(Section):
    """How a column of vectors is read."""

    vector_size: VectorSize = None
    missing_value_strategy: MissingValueStrategy = "fill_with_const"
    fill_value: NumbersText = Field("", description="Numbers, with spaces between, that fill_with_const fills in.")
    computed_fill_value: NumbersText = Field("", description="The value that was filled in; computed, not read.")


class VectorOutputPreprocessing(VectorPreprocessing):
    """How a target of vectors is read."""

    missing_value_strategy: MissingValueStrategy = "drop_row"
