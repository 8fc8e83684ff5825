"""The output features of tabular data, and the choice among all types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field
from pydantic_core import InitErrorDetails

from trainwright_api.config.decoders import ClassifierDecoder, PassthroughDecoder, ProjectorDecoder, RegressorDecoder
from trainwright_api.config.feature import ReduceDependencies, ReduceInput
from trainwright_api.config.losses import (
    BinaryWeightedCrossEntropy,
    Corn,
    Huber,
    MeanAbsoluteError,
    MeanAbsolutePercentageError,
    MeanSquaredError,
    RootMeanSquaredError,
    RootMeanSquaredPercentageError,
    SoftmaxCrossEntropy,
)
from trainwright_api.config.output import Metric, Output, Threshold, decoder_choice, loss_choice
from trainwright_api.config.preprocessing.tabular import (
    BinaryOutputPreprocessing,
    CategoryDistributionOutputPreprocessing,
    CategoryOutputPreprocessing,
    NumberOutputPreprocessing,
    VectorOutputPreprocessing,
)
from trainwright_api.schema.choice import Choice
from trainwright_api.schema.fields import PositiveInt
from trainwright_api.schema.section import relation
from trainwright_api.schema.unions import Bounds

if TYPE_CHECKING:
    from trainwright_api.config.outputs_media import ImageOutput
    from trainwright_api.config.outputs_tokens import SequenceOutput, SetOutput, TextOutput, TimeseriesOutput

NUMBER_DECODER = decoder_choice("number", "regressor")
BINARY_DECODER = decoder_choice("binary", "regressor")
CATEGORY_DECODER = decoder_choice("category", "classifier")
CATEGORY_DISTRIBUTION_DECODER = decoder_choice("category_distribution", "classifier")
VECTOR_DECODER = decoder_choice("vector", "projector")
NUMBER_LOSS = loss_choice("number", "mean_squared_error")
BINARY_LOSS = loss_choice("binary", "binary_weighted_cross_entropy")
CATEGORY_LOSS = loss_choice("category", "softmax_cross_entropy")
CATEGORY_DISTRIBUTION_LOSS = loss_choice("category_distribution", "softmax_cross_entropy")
VECTOR_LOSS = loss_choice("vector", "mean_squared_error")

_PREPROCESSING = "How the column is read."
_DECODER = "How the combined vector becomes the output."
_LOSS = "What training makes small."
_DECIDES_CLASSES = (
    "Metric that decides which round is best; accuracy is the classes' mean, accuracy_micro the share of right rows."
)
_TOP_K = "How many of the likeliest classes hits_at_k looks at. With no more classes than that there is no hits_at_k."
_CALIBRATION = "Calibrate the probabilities on the validation rows after training, by temperature scaling."


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
    clip: Bounds | None = Field(None, description="Minimum and maximum of a prediction.")

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from super().mistakes()
        if self.clip and self.clip[0] > self.clip[1]:
            yield relation("the lower bound stands first", "clip", found=list(self.clip))


class BinaryOutput(Output):
    """A binary value."""

    type: Literal["binary"] = Field("binary", description="A binary value.")
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
    """One class of several."""

    type: Literal["category"] = Field("category", description="One class of several.")
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
    default_validation_metric: Metric = Field("accuracy", description=_DECIDES_CLASSES)
    calibration: bool = Field(False, description=_CALIBRATION)
    top_k: PositiveInt = Field(3, description=_TOP_K)


class CategoryDistributionOutput(Output):
    """A probability of each class."""

    type: Literal["category_distribution"] = Field("category_distribution", description="A probability of each class.")
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
    top_k: PositiveInt = Field(3, description="Number of the most likely classes that hits_at_k counts as a hit.")


class VectorOutput(Output):
    """A vector: a list of numbers of the same length in each row."""

    type: Literal["vector"] = Field("vector", description="A vector: a list of numbers of the same length in each row.")
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
    softmax: bool = Field(False, description="Apply a softmax to the predicted vector.")
    vector_size: PositiveInt | None = Field(None, description="Length of the vector. null: derived from the data.")


OUTPUT = Choice(
    "output feature type",
    "trainwright_api.config",
    {
        "category": "outputs.CategoryOutput",
        "binary": "outputs.BinaryOutput",
        "number": "outputs.NumberOutput",
        "sequence": "outputs_tokens.SequenceOutput",
        "set": "outputs_tokens.SetOutput",
        "text": "outputs_tokens.TextOutput",
        "timeseries": "outputs_tokens.TimeseriesOutput",
        "vector": "outputs.VectorOutput",
        "category_distribution": "outputs.CategoryDistributionOutput",
        "image": "outputs_media.ImageOutput",
    },
)

if TYPE_CHECKING:
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
        OUTPUT,
    ]
else:
    # The classes of the other types are loaded when a file first has one.
    OutputFeature = Annotated[Output, OUTPUT]
"""Any output feature; `type` says which."""
