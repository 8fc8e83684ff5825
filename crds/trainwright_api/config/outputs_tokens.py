"""The output features that are made of tokens or steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field
from pydantic_core import InitErrorDetails

from trainwright_api.config.decoders import (
    ClassifierDecoder,
    GeneratorDecoder,
    PassthroughDecoder,
    ProjectorDecoder,
    TaggerDecoder,
)
from trainwright_api.config.feature import ReduceDependencies, ReduceInput
from trainwright_api.config.losses import (
    ClassSimilarities,
    Huber,
    MeanAbsoluteError,
    MeanAbsolutePercentageError,
    MeanSquaredError,
    NextTokenSoftmaxCrossEntropy,
    SequenceSoftmaxCrossEntropy,
    SigmoidCrossEntropy,
)
from trainwright_api.config.output import Metric, Output, Threshold, decoder_choice, loss_choice
from trainwright_api.config.preprocessing.text import (
    SequenceOutputPreprocessing,
    SetOutputPreprocessing,
    TextOutputPreprocessing,
    TimeseriesOutputPreprocessing,
)
from trainwright_api.schema.fields import PositiveInt
from trainwright_api.schema.section import relation

SET_DECODER = decoder_choice("set", "classifier")
SEQUENCE_DECODER = decoder_choice("sequence", "generator")
TEXT_DECODER = decoder_choice("text", "generator")
TIMESERIES_DECODER = decoder_choice("timeseries", "projector")
SET_LOSS = loss_choice("set", "sigmoid_cross_entropy")
SEQUENCE_LOSS = loss_choice("sequence", "sequence_softmax_cross_entropy")
TEXT_LOSS = loss_choice("text", "sequence_softmax_cross_entropy")
TIMESERIES_LOSS = loss_choice("timeseries", "huber")

_PREPROCESSING = "How the column is read."
_DECODER = "How the combined vector becomes the output."
_LOSS = "What training makes small."


class TokensOutput(Output):
    """An output whose decoder may take each step of a sequence."""

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from super().mistakes()
        given = "reduce_input" in self.model_fields_set and self.reduce_input is not None
        if given and isinstance(getattr(self, "decoder", None), TaggerDecoder):
            message = "a tagger takes each step of the sequence: set reduce_input to null, or leave it out"
            yield relation(message, "reduce_input", found=self.reduce_input)


class SetOutput(Output):
    """A set of tokens."""

    type: Literal["set"] = Field("set", description="A set of tokens.")
    preprocessing: SetOutputPreprocessing = Field(default_factory=SetOutputPreprocessing, description=_PREPROCESSING)
    decoder: Annotated[ClassifierDecoder | PassthroughDecoder, SET_DECODER] = Field(
        default_factory=SET_DECODER.make, description=_DECODER
    )
    loss: Annotated[
        SigmoidCrossEntropy,
        SET_LOSS,
    ] = Field(default_factory=SET_LOSS.make, description=_LOSS)
    default_validation_metric: Metric = "jaccard"
    threshold: Threshold = 0.5


class SequenceOutput(TokensOutput):
    """A sequence of tokens."""

    type: Literal["sequence"] = Field("sequence", description="A sequence of tokens.")
    preprocessing: SequenceOutputPreprocessing = Field(
        default_factory=SequenceOutputPreprocessing, description=_PREPROCESSING
    )
    decoder: Annotated[GeneratorDecoder | TaggerDecoder, SEQUENCE_DECODER] = Field(
        default_factory=SEQUENCE_DECODER.make, description=_DECODER
    )
    loss: Annotated[
        SequenceSoftmaxCrossEntropy | NextTokenSoftmaxCrossEntropy,
        SEQUENCE_LOSS,
    ] = Field(default_factory=SEQUENCE_LOSS.make, description=_LOSS)
    default_validation_metric: Metric = "loss"


class TextOutput(TokensOutput):
    """A text."""

    type: Literal["text"] = Field("text", description="A text.")
    preprocessing: TextOutputPreprocessing = Field(default_factory=TextOutputPreprocessing, description=_PREPROCESSING)
    decoder: Annotated[GeneratorDecoder | TaggerDecoder, TEXT_DECODER] = Field(
        default_factory=TEXT_DECODER.make, description=_DECODER
    )
    loss: Annotated[
        SequenceSoftmaxCrossEntropy | NextTokenSoftmaxCrossEntropy,
        TEXT_LOSS,
    ] = Field(default_factory=TEXT_LOSS.make, description=_LOSS)
    default_validation_metric: Metric = "loss"
    class_similarities: ClassSimilarities = None


class TimeseriesOutput(Output):
    """A time series of numbers."""

    type: Literal["timeseries"] = Field("timeseries", description="A time series of numbers.")
    preprocessing: TimeseriesOutputPreprocessing = Field(
        default_factory=TimeseriesOutputPreprocessing, description=_PREPROCESSING
    )
    decoder: Annotated[ProjectorDecoder | PassthroughDecoder, TIMESERIES_DECODER] = Field(
        default_factory=TIMESERIES_DECODER.make, description=_DECODER
    )
    loss: Annotated[
        MeanSquaredError | MeanAbsoluteError | MeanAbsolutePercentageError | Huber,
        TIMESERIES_LOSS,
    ] = Field(default_factory=TIMESERIES_LOSS.make, description=_LOSS)
    default_validation_metric: Metric = "mean_squared_error"
    reduce_input: ReduceInput = None
    reduce_dependencies: ReduceDependencies = None
    horizon: PositiveInt | None = Field(
        None, description="Number of predicted steps. null: taken from the preprocessing."
    )
