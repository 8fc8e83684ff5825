"""The input features of tabular data, and the choice among all types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from trainwright_api.config.encoders import (
    CategoryDenseEncoder,
    CategoryOneHotEncoder,
    CategoryPassthroughEncoder,
    CategorySparseEncoder,
    DateEmbedEncoder,
    DateWaveEncoder,
    DenseEncoder,
    PassthroughEncoder,
    encoder_choice,
)
from trainwright_api.config.feature import BaseInput
from trainwright_api.config.preprocessing.tabular import (
    BinaryPreprocessing,
    CategoryPreprocessing,
    DatePreprocessing,
    NumberPreprocessing,
    VectorPreprocessing,
)
from trainwright_api.schema.choice import Choice

if TYPE_CHECKING:
    from trainwright_api.config.inputs_media import AudioInput, H3Input, ImageInput
    from trainwright_api.config.inputs_tokens import BagInput, SequenceInput, SetInput, TextInput, TimeseriesInput

NUMBER_ENCODER = encoder_choice("number")
BINARY_ENCODER = encoder_choice("binary")
CATEGORY_ENCODER = encoder_choice("category")
DATE_ENCODER = encoder_choice("date")
VECTOR_ENCODER = encoder_choice("vector")

_PREPROCESSING = "How the column is read."
_ENCODER = "How the values become vectors."

DenseOrPassthrough = PassthroughEncoder | DenseEncoder
CategoryEncoder = CategoryDenseEncoder | CategorySparseEncoder | CategoryOneHotEncoder | CategoryPassthroughEncoder
DateEncoder = DateEmbedEncoder | DateWaveEncoder


class NumberInput(BaseInput):
    """A number."""

    type: Literal["number"] = Field("number", description="A number.")
    preprocessing: NumberPreprocessing = Field(default_factory=NumberPreprocessing, description=_PREPROCESSING)
    encoder: Annotated[DenseOrPassthrough, NUMBER_ENCODER] = Field(
        default_factory=NUMBER_ENCODER.make, description=_ENCODER
    )


class BinaryInput(BaseInput):
    """A binary value."""

    type: Literal["binary"] = Field("binary", description="A binary value.")
    preprocessing: BinaryPreprocessing = Field(default_factory=BinaryPreprocessing, description=_PREPROCESSING)
    encoder: Annotated[DenseOrPassthrough, BINARY_ENCODER] = Field(
        default_factory=BINARY_ENCODER.make, description=_ENCODER
    )


class CategoryInput(BaseInput):
    """One class of several."""

    type: Literal["category"] = Field("category", description="One class of several.")
    preprocessing: CategoryPreprocessing = Field(default_factory=CategoryPreprocessing, description=_PREPROCESSING)
    encoder: Annotated[CategoryEncoder, CATEGORY_ENCODER] = Field(
        default_factory=CATEGORY_ENCODER.make, description=_ENCODER
    )


class DateInput(BaseInput):
    """A date, or a date and a time."""

    type: Literal["date"] = Field("date", description="A date, or a date and a time.")
    preprocessing: DatePreprocessing = Field(default_factory=DatePreprocessing, description=_PREPROCESSING)
    encoder: Annotated[DateEncoder, DATE_ENCODER] = Field(default_factory=DATE_ENCODER.make, description=_ENCODER)


class VectorInput(BaseInput):
    """A vector: a list of numbers of the same length in each row."""

    type: Literal["vector"] = Field("vector", description="A vector: a list of numbers of the same length in each row.")
    preprocessing: VectorPreprocessing = Field(default_factory=VectorPreprocessing, description=_PREPROCESSING)
    encoder: Annotated[DenseOrPassthrough, VECTOR_ENCODER] = Field(
        default_factory=VECTOR_ENCODER.make, description=_ENCODER
    )


INPUT = Choice(
    "input feature type",
    "trainwright_api.config",
    {
        "text": "inputs_tokens.TextInput",
        "number": "inputs.NumberInput",
        "binary": "inputs.BinaryInput",
        "category": "inputs.CategoryInput",
        "set": "inputs_tokens.SetInput",
        "sequence": "inputs_tokens.SequenceInput",
        "image": "inputs_media.ImageInput",
        "audio": "inputs_media.AudioInput",
        "timeseries": "inputs_tokens.TimeseriesInput",
        "bag": "inputs_tokens.BagInput",
        "h3": "inputs_media.H3Input",
        "date": "inputs.DateInput",
        "vector": "inputs.VectorInput",
    },
)

if TYPE_CHECKING:
    InputFeature = Annotated[
        TextInput
        | NumberInput
        | BinaryInput
        | CategoryInput
        | SetInput
        | SequenceInput
        | ImageInput
        | AudioInput
        | TimeseriesInput
        | BagInput
        | H3Input
        | DateInput
        | VectorInput,
        INPUT,
    ]
else:
    # The classes of the other types are loaded when a file first has one.
    InputFeature = Annotated[BaseInput, INPUT]
"""Any input feature; `type` says which."""
