"""The thirteen types of input features."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from trainwright_api.config.augmentation import AUGMENTATIONS, Augmentation
from trainwright_api.config.choice import Choice
from trainwright_api.config.encoders import (
    CategoryDenseEncoder,
    CategoryOneHotEncoder,
    CategoryPassthroughEncoder,
    CategorySparseEncoder,
    DateEmbedEncoder,
    DateWaveEncoder,
    DenseEncoder,
    Encoder,
    PassthroughEncoder,
    encoder_choice,
)
from trainwright_api.config.feature import BaseInput
from trainwright_api.config.preprocessing import (
    AudioPreprocessing,
    BagPreprocessing,
    BinaryPreprocessing,
    CategoryPreprocessing,
    DatePreprocessing,
    H3Preprocessing,
    ImagePreprocessing,
    NumberPreprocessing,
    SequencePreprocessing,
    SetPreprocessing,
    TextPreprocessing,
    TimeseriesPreprocessing,
    VectorPreprocessing,
)

NUMBER_ENCODER = encoder_choice("number")
BINARY_ENCODER = encoder_choice("binary")
CATEGORY_ENCODER = encoder_choice("category")
VECTOR_ENCODER = encoder_choice("vector")
DATE_ENCODER = encoder_choice("date")
TEXT_ENCODER = encoder_choice("text")
SEQUENCE_ENCODER = encoder_choice("sequence")
SET_ENCODER = encoder_choice("set")
BAG_ENCODER = encoder_choice("bag")
H3_ENCODER = encoder_choice("h3")
IMAGE_ENCODER = encoder_choice("image")
AUDIO_ENCODER = encoder_choice("audio")
TIMESERIES_ENCODER = encoder_choice("timeseries")

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
    """Yes or no."""

    type: Literal["binary"] = Field("binary", description="Yes or no.")
    preprocessing: BinaryPreprocessing = Field(default_factory=BinaryPreprocessing, description=_PREPROCESSING)
    encoder: Annotated[DenseOrPassthrough, BINARY_ENCODER] = Field(
        default_factory=BINARY_ENCODER.make, description=_ENCODER
    )


class CategoryInput(BaseInput):
    """One class out of several."""

    type: Literal["category"] = Field("category", description="One class out of several.")
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
    """A list of numbers, equally many in each row."""

    type: Literal["vector"] = Field("vector", description="A list of numbers, equally many in each row.")
    preprocessing: VectorPreprocessing = Field(default_factory=VectorPreprocessing, description=_PREPROCESSING)
    encoder: Annotated[DenseOrPassthrough, VECTOR_ENCODER] = Field(
        default_factory=VECTOR_ENCODER.make, description=_ENCODER
    )


class TextInput(BaseInput):
    """A text."""

    type: Literal["text"] = Field("text", description="A text.")
    preprocessing: TextPreprocessing = Field(default_factory=TextPreprocessing, description=_PREPROCESSING)
    encoder: Annotated[Encoder, TEXT_ENCODER] = Field(default_factory=TEXT_ENCODER.make, description=_ENCODER)


class SequenceInput(BaseInput):
    """A sequence of tokens."""

    type: Literal["sequence"] = Field("sequence", description="A sequence of tokens.")
    preprocessing: SequencePreprocessing = Field(default_factory=SequencePreprocessing, description=_PREPROCESSING)
    encoder: Annotated[Encoder, SEQUENCE_ENCODER] = Field(default_factory=SEQUENCE_ENCODER.make, description=_ENCODER)


class SetInput(BaseInput):
    """A set of tokens."""

    type: Literal["set"] = Field("set", description="A set of tokens.")
    preprocessing: SetPreprocessing = Field(default_factory=SetPreprocessing, description=_PREPROCESSING)
    encoder: Annotated[Encoder, SET_ENCODER] = Field(default_factory=SET_ENCODER.make, description=_ENCODER)


class BagInput(BaseInput):
    """A set of tokens that counts."""

    type: Literal["bag"] = Field("bag", description="A set of tokens that counts.")
    preprocessing: BagPreprocessing = Field(default_factory=BagPreprocessing, description=_PREPROCESSING)
    encoder: Annotated[Encoder, BAG_ENCODER] = Field(default_factory=BAG_ENCODER.make, description=_ENCODER)


class H3Input(BaseInput):
    """A cell of the H3 grid of the globe."""

    type: Literal["h3"] = Field("h3", description="A cell of the H3 grid of the globe.")
    preprocessing: H3Preprocessing = Field(default_factory=H3Preprocessing, description=_PREPROCESSING)
    encoder: Annotated[Encoder, H3_ENCODER] = Field(default_factory=H3_ENCODER.make, description=_ENCODER)


class ImageInput(BaseInput):
    """A picture, as a file."""

    type: Literal["image"] = Field("image", description="A picture, as a file.")
    preprocessing: ImagePreprocessing = Field(default_factory=ImagePreprocessing, description=_PREPROCESSING)
    encoder: Annotated[Encoder, IMAGE_ENCODER] = Field(default_factory=IMAGE_ENCODER.make, description=_ENCODER)
    augmentation: Annotated[list[Augmentation], AUGMENTATIONS] = Field(
        default_factory=list, description="Random changes of the pictures while training; true for flips and rotations."
    )


class AudioInput(BaseInput):
    """A sound, as a file."""

    type: Literal["audio"] = Field("audio", description="A sound, as a file.")
    preprocessing: AudioPreprocessing = Field(default_factory=AudioPreprocessing, description=_PREPROCESSING)
    encoder: Annotated[Encoder, AUDIO_ENCODER] = Field(default_factory=AUDIO_ENCODER.make, description=_ENCODER)


class TimeseriesInput(BaseInput):
    """A series of numbers."""

    type: Literal["timeseries"] = Field("timeseries", description="A series of numbers.")
    preprocessing: TimeseriesPreprocessing = Field(default_factory=TimeseriesPreprocessing, description=_PREPROCESSING)
    encoder: Annotated[Encoder, TIMESERIES_ENCODER] = Field(
        default_factory=TIMESERIES_ENCODER.make, description=_ENCODER
    )


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
    Choice(
        "input feature type",
        "trainwright_api.config",
        {
            "text": "inputs.TextInput",
            "number": "inputs.NumberInput",
            "binary": "inputs.BinaryInput",
            "category": "inputs.CategoryInput",
            "set": "inputs.SetInput",
            "sequence": "inputs.SequenceInput",
            "image": "inputs.ImageInput",
            "audio": "inputs.AudioInput",
            "timeseries": "inputs.TimeseriesInput",
            "bag": "inputs.BagInput",
            "h3": "inputs.H3Input",
            "date": "inputs.DateInput",
            "vector": "inputs.VectorInput",
        },
    ),
]
"""Any input feature; `type` says which."""
