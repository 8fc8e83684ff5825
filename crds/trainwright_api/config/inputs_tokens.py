"""Input features that consist of tokens or steps."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from trainwright_api.config.encoders import Encoder, encoder_choice
from trainwright_api.config.feature import BaseInput, EmbeddedInput
from trainwright_api.config.preprocessing.text import (
    BagPreprocessing,
    SequencePreprocessing,
    SetPreprocessing,
    TextPreprocessing,
    TimeseriesPreprocessing,
)

TEXT_ENCODER = encoder_choice("text")
SEQUENCE_ENCODER = encoder_choice("sequence")
SET_ENCODER = encoder_choice("set")
BAG_ENCODER = encoder_choice("bag")
TIMESERIES_ENCODER = encoder_choice("timeseries")

_PREPROCESSING = "How the column is read."
_ENCODER = "How the values become vectors."


class TextInput(EmbeddedInput):
    """A text."""

    type: Literal["text"] = Field("text", description="A text.")
    preprocessing: TextPreprocessing = Field(default_factory=TextPreprocessing, description=_PREPROCESSING)
    encoder: Annotated[Encoder, TEXT_ENCODER] = Field(default_factory=TEXT_ENCODER.make, description=_ENCODER)


class SequenceInput(EmbeddedInput):
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
    """A bag: a set of tokens with counts."""

    type: Literal["bag"] = Field("bag", description="A bag: a set of tokens with counts.")
    preprocessing: BagPreprocessing = Field(default_factory=BagPreprocessing, description=_PREPROCESSING)
    encoder: Annotated[Encoder, BAG_ENCODER] = Field(default_factory=BAG_ENCODER.make, description=_ENCODER)


class TimeseriesInput(BaseInput):
    """A time series of numbers."""

    type: Literal["timeseries"] = Field("timeseries", description="A time series of numbers.")
    preprocessing: TimeseriesPreprocessing = Field(default_factory=TimeseriesPreprocessing, description=_PREPROCESSING)
    encoder: Annotated[Encoder, TIMESERIES_ENCODER] = Field(
        default_factory=TIMESERIES_ENCODER.make, description=_ENCODER
    )
