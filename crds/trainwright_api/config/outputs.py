"""The types of output features."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field
from pydantic_core import InitErrorDetails

from trainwright_api.config.choice import Choice
from trainwright_api.config.decoders import (
    DECODERS,
    ClassifierDecoder,
    GeneratorDecoder,
    PassthroughDecoder,
    ProjectorDecoder,
    RegressorDecoder,
    TaggerDecoder,
    UNetDecoder,
)
from trainwright_api.config.feature import BaseOutput, ReduceDependencies, ReduceInput
from trainwright_api.config.fields import Fraction, PositiveInt
from trainwright_api.config.kinds import Bounds
from trainwright_api.config.losses import (
    LOSSES,
    BinaryWeightedCrossEntropy,
    ClassSimilarities,
    Corn,
    Huber,
    MeanAbsoluteError,
    MeanAbsolutePercentageError,
    MeanSquaredError,
    NextTokenSoftmaxCrossEntropy,
    RootMeanSquaredError,
    RootMeanSquaredPercentageError,
    SequenceSoftmaxCrossEntropy,
    SigmoidCrossEntropy,
    SoftmaxCrossEntropy,
)
from trainwright_api.config.metric_names import METRICS
from trainwright_api.config.preprocessing import (
    BinaryOutputPreprocessing,
    CategoryDistributionOutputPreprocessing,
    CategoryOutputPreprocessing,
    ImageOutputPreprocessing,
    NumberOutputPreprocessing,
    SequenceOutputPreprocessing,
    SetOutputPreprocessing,
    TextOutputPreprocessing,
    TimeseriesOutputPreprocessing,
    VectorOutputPreprocessing,
)
from trainwright_api.section import relation, unknown_word


def _decoder(feature_type: str, default: str) -> Choice:
    return Choice(f"decoder of a {feature_type} output", "trainwright_api.config", DECODERS[feature_type], default)


def _loss(feature_type: str, default: str) -> Choice:
    return Choice(f"loss of a {feature_type} output", "trainwright_api.config", LOSSES[feature_type], default)


NUMBER_DECODER = _decoder("number", "regressor")
BINARY_DECODER = _decoder("binary", "regressor")
CATEGORY_DECODER = _decoder("category", "classifier")
CATEGORY_DISTRIBUTION_DECODER = _decoder("category_distribution", "classifier")
VECTOR_DECODER = _decoder("vector", "projector")
SET_DECODER = _decoder("set", "classifier")
SEQUENCE_DECODER = _decoder("sequence", "generator")
TEXT_DECODER = _decoder("text", "generator")
TIMESERIES_DECODER = _decoder("timeseries", "projector")
IMAGE_DECODER = _decoder("image", "unet")
NUMBER_LOSS = _loss("number", "mean_squared_error")
BINARY_LOSS = _loss("binary", "binary_weighted_cross_entropy")
CATEGORY_LOSS = _loss("category", "softmax_cross_entropy")
CATEGORY_DISTRIBUTION_LOSS = _loss("category_distribution", "softmax_cross_entropy")
VECTOR_LOSS = _loss("vector", "mean_squared_error")
SET_LOSS = _loss("set", "sigmoid_cross_entropy")
SEQUENCE_LOSS = _loss("sequence", "sequence_softmax_cross_entropy")
TEXT_LOSS = _loss("text", "sequence_softmax_cross_entropy")
TIMESERIES_LOSS = _loss("timeseries", "huber")
IMAGE_LOSS = _loss("image", "softmax_cross_entropy")

_PREPROCESSING = "How the column is read."
_DECODER = "How the combined vector becomes the output."
_LOSS = "What training makes small."
_CALIBRATION = "Whether probabilities are calibrated on the validation rows after training."

Metric = Annotated[str, Field(description="Metric that decides which round is best where the trainer names none.")]
Threshold = Annotated[Fraction, Field(description="Probability from which the prediction is yes.")]


class Output(BaseOutput):
    """An output whose metrics its type knows."""

    def mistakes(self) -> Iterator[InitErrorDetails]:
        """What is wrong between fields that are each right."""
        feature_type, metric = getattr(self, "type"), getattr(self, "default_validation_metric")  # noqa: B009
        if metric not in METRICS[feature_type]:
            error = unknown_word(f"metric of a {feature_type} output", metric, METRICS[feature_type])
            yield {"type": error, "loc": ("default_validation_metric",), "input": metric}


class NumberOutput(Output):
    """A number."""

    type: Literal["number"] = Field("number", description="A number.")
    preprocessing: NumberOutputPreprocessing = Field(
        default_factory=NumberOutputPreprocessing, description=_PREPROCESSING
    )
    decoder: Annotated[RegressorDecoder | PassthroughDecoder, NUMBER_DECODER] = Field(
        default_factory=NUMBER_DECODER.make, description=_DECODER
    )
    loss: Annotated[
        MeanSquaredError
        | MeanAbsoluteError
        | MeanAbsolutePercentageError
        | RootMeanSquaredError
        | RootMeanSquaredPercentageError
        | Huber,
        NUMBER_LOSS,
    ] = Field(default_factory=NUMBER_LOSS.make, description=_LOSS)
    default_validation_metric: Metric = "mean_squared_error"
    clip: Bounds | None = Field(None, description="Lowest and highest value of a prediction.")

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from super().mistakes()
        if self.clip and self.clip[0] > self.clip[1]:
            yield relation("the lower bound stands first", "clip", found=list(self.clip))


class BinaryOutput(Output):
    """Yes or no."""

    type: Literal["binary"] = Field("binary", description="Yes or no.")
    preprocessing: BinaryOutputPreprocessing = Field(
        default_factory=BinaryOutputPreprocessing, description=_PREPROCESSING
    )
    decoder: Annotated[RegressorDecoder | PassthroughDecoder, BINARY_DECODER] = Field(
        default_factory=BINARY_DECODER.make, description=_DECODER
    )
    loss: Annotated[
        BinaryWeightedCrossEntropy,
        BINARY_LOSS,
    ] = Field(default_factory=BINARY_LOSS.make, description=_LOSS)
    default_validation_metric: Metric = "roc_auc"
    calibration: bool = Field(False, description=_CALIBRATION)
    threshold: Threshold = 0.5


class CategoryOutput(Output):
    """One class out of several."""

    type: Literal["category"] = Field("category", description="One class out of several.")
    preprocessing: CategoryOutputPreprocessing = Field(
        default_factory=CategoryOutputPreprocessing, description=_PREPROCESSING
    )
    decoder: Annotated[ClassifierDecoder | PassthroughDecoder, CATEGORY_DECODER] = Field(
        default_factory=CATEGORY_DECODER.make, description=_DECODER
    )
    loss: Annotated[
        SoftmaxCrossEntropy | Corn,
        CATEGORY_LOSS,
    ] = Field(default_factory=CATEGORY_LOSS.make, description=_LOSS)
    default_validation_metric: Metric = "accuracy"
    calibration: bool = Field(False, description=_CALIBRATION)
    top_k: PositiveInt = Field(3, description="How many of the likeliest classes hits_at_k looks at.")


class CategoryDistributionOutput(Output):
    """A probability for each class."""

    type: Literal["category_distribution"] = Field("category_distribution", description="A probability for each class.")
    preprocessing: CategoryDistributionOutputPreprocessing = Field(
        default_factory=CategoryDistributionOutputPreprocessing, description=_PREPROCESSING
    )
    decoder: Annotated[ClassifierDecoder | PassthroughDecoder, CATEGORY_DISTRIBUTION_DECODER] = Field(
        default_factory=CATEGORY_DISTRIBUTION_DECODER.make, description=_DECODER
    )
    loss: Annotated[
        SoftmaxCrossEntropy,
        CATEGORY_DISTRIBUTION_LOSS,
    ] = Field(default_factory=CATEGORY_DISTRIBUTION_LOSS.make, description=_LOSS)
    default_validation_metric: Metric = "accuracy"
    calibration: bool = Field(False, description=_CALIBRATION)
    top_k: PositiveInt = Field(3, description="How many of the likeliest classes hits_at_k looks at.")


class VectorOutput(Output):
    """A list of numbers, equally many in each row."""

    type: Literal["vector"] = Field("vector", description="A list of numbers, equally many in each row.")
    preprocessing: VectorOutputPreprocessing = Field(
        default_factory=VectorOutputPreprocessing, description=_PREPROCESSING
    )
    decoder: Annotated[ProjectorDecoder | PassthroughDecoder, VECTOR_DECODER] = Field(
        default_factory=VECTOR_DECODER.make, description=_DECODER
    )
    loss: Annotated[
        MeanSquaredError | MeanAbsoluteError | MeanAbsolutePercentageError | Huber | SoftmaxCrossEntropy,
        VECTOR_LOSS,
    ] = Field(default_factory=VECTOR_LOSS.make, description=_LOSS)
    default_validation_metric: Metric = "mean_squared_error"
    reduce_input: ReduceInput = None
    reduce_dependencies: ReduceDependencies = None
    softmax: bool = Field(False, description="Whether the predicted vector is a softmax.")
    vector_size: PositiveInt | None = Field(None, description="Numbers in the vector; found from the data where null.")


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


class SequenceOutput(Output):
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


class TextOutput(Output):
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
    """A series of numbers."""

    type: Literal["timeseries"] = Field("timeseries", description="A series of numbers.")
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
        None, description="Steps that are predicted; taken from the preprocessing where null."
    )


class ImageOutput(Output):
    """A class for each pixel."""

    type: Literal["image"] = Field("image", description="A class for each pixel.")
    preprocessing: ImageOutputPreprocessing = Field(
        default_factory=ImageOutputPreprocessing, description=_PREPROCESSING
    )
    decoder: Annotated[UNetDecoder, IMAGE_DECODER] = Field(default_factory=IMAGE_DECODER.make, description=_DECODER)
    loss: Annotated[
        SoftmaxCrossEntropy,
        IMAGE_LOSS,
    ] = Field(default_factory=IMAGE_LOSS.make, description=_LOSS)
    default_validation_metric: Metric = "loss"
    reduce_input: ReduceInput = None
    reduce_dependencies: ReduceDependencies = None


OutputFeature = Annotated[
    CategoryOutput
    | BinaryOutput
    | NumberOutput
    | SequenceOutput
    | SetOutput
    | TextOutput
    | TimeseriesOutput
    | VectorOutput
    | CategoryDistributionOutput
    | ImageOutput,
    Choice(
        "output feature type",
        "trainwright_api.config",
        {
            "category": "outputs.CategoryOutput",
            "binary": "outputs.BinaryOutput",
            "number": "outputs.NumberOutput",
            "sequence": "outputs.SequenceOutput",
            "set": "outputs.SetOutput",
            "text": "outputs.TextOutput",
            "timeseries": "outputs.TimeseriesOutput",
            "vector": "outputs.VectorOutput",
            "category_distribution": "outputs.CategoryDistributionOutput",
            "image": "outputs.ImageOutput",
        },
    ),
]
"""Any output feature; `type` says which."""
