"""The losses, one for each output. The total loss is their weighted sum."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field
from pydantic_core import InitErrorDetails

from trainwright_api.schema.choice import Chosen
from trainwright_api.schema.fields import NonNegativeFloat, PositiveFloat
from trainwright_api.schema.section import relation
from trainwright_api.schema.unions import ClassWeights

ROOTS = frozenset({"root_mean_squared_error", "root_mean_squared_percentage_error"})
"""The losses that are a root of a mean: the loss of a batch is not a sum over its parts."""
RobustLambda = Annotated[
    float,
    Field(ge=0, le=1, description="Label smoothing: (1 - robust_lambda) * loss + robust_lambda / number of classes."),
]
ConfidencePenalty = Annotated[
    NonNegativeFloat, Field(description="Coefficient of a penalty on overconfident predictions.")
]
OptionalClassWeights = Annotated[
    ClassWeights | None,
    Field(description="Weight of each class: a list in the order of the vocabulary, or a mapping of label to weight."),
]
ClassSimilarities = Annotated[
    list[list[float]] | None, Field(description="Matrix of the similarities between the classes, row by row.")
]
Temperature = Annotated[
    NonNegativeFloat, Field(description="Temperature of the softmax over class_similarities. 0: ignore them.")
]


class Loss(Chosen):
    """A loss and its weight in the total loss. `type` selects it."""

    weight: NonNegativeFloat = Field(1.0, description="Weight of this loss in the total loss.")


class MeanSquaredError(Loss):
    """Mean squared error."""

    type: Literal["mean_squared_error"] = Field("mean_squared_error", description="Mean squared error.")


class MeanAbsoluteError(Loss):
    """Mean absolute error."""

    type: Literal["mean_absolute_error"] = Field("mean_absolute_error", description="Mean absolute error.")


class MeanAbsolutePercentageError(Loss):
    """Mean absolute percentage error."""

    type: Literal["mean_absolute_percentage_error"] = Field(
        "mean_absolute_percentage_error", description="Mean absolute percentage error."
    )


class RootMeanSquaredError(Loss):
    """Root mean squared error."""

    type: Literal["root_mean_squared_error"] = Field("root_mean_squared_error", description="Root mean squared error.")


class RootMeanSquaredPercentageError(Loss):
    """Root mean squared percentage error."""

    type: Literal["root_mean_squared_percentage_error"] = Field(
        "root_mean_squared_percentage_error",
        description="Root mean squared percentage error.",
    )


class Huber(Loss):
    """Huber loss: quadratic for small errors, linear for large ones."""

    type: Literal["huber"] = Field(
        "huber", description="Huber loss: quadratic for small errors, linear for large ones."
    )
    delta: PositiveFloat = Field(1.0, description="Error from which the loss is linear.")


class BinaryWeightedCrossEntropy(Loss):
    """Binary cross entropy with a weight of the positive class."""

    type: Literal["binary_weighted_cross_entropy"] = Field(
        "binary_weighted_cross_entropy", description="Binary cross entropy."
    )
    positive_class_weight: NonNegativeFloat | None = Field(None, description="Weight of the positive class. null: 1.")
    robust_lambda: RobustLambda = 0.0
    confidence_penalty: ConfidencePenalty = 0.0


class SoftmaxCrossEntropy(Loss):
    """Softmax cross entropy."""

    type: Literal["softmax_cross_entropy"] = Field("softmax_cross_entropy", description="Softmax cross entropy.")
    class_weights: OptionalClassWeights = None
    robust_lambda: RobustLambda = 0.0
    confidence_penalty: ConfidencePenalty = 0.0
    class_similarities: ClassSimilarities = None
    class_similarities_temperature: Temperature = 0.0

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from _similarity_mistakes(self)


class SequenceSoftmaxCrossEntropy(Loss):
    """Softmax cross entropy of each token of a sequence."""

    type: Literal["sequence_softmax_cross_entropy"] = Field(
        "sequence_softmax_cross_entropy", description="Softmax cross entropy of each token of a sequence."
    )
    class_weights: OptionalClassWeights = None
    robust_lambda: RobustLambda = 0.0
    confidence_penalty: ConfidencePenalty = 0.0
    class_similarities: ClassSimilarities = None
    class_similarities_temperature: Temperature = 0.0
    unique: bool = Field(False, description="Count each token only once in a sequence.")

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from _similarity_mistakes(self)


class NextTokenSoftmaxCrossEntropy(SequenceSoftmaxCrossEntropy):
    """Softmax cross entropy of the next token."""

    type: Literal["next_token_softmax_cross_entropy"] = Field(  # type: ignore[assignment]
        "next_token_softmax_cross_entropy", description="Softmax cross entropy of the next token."
    )


class SigmoidCrossEntropy(Loss):
    """Sigmoid cross entropy of each class."""

    type: Literal["sigmoid_cross_entropy"] = Field(
        "sigmoid_cross_entropy", description="Sigmoid cross entropy of each class."
    )
    class_weights: OptionalClassWeights = None


class Corn(Loss):
    """Cross entropy of ordered classes (CORN)."""

    type: Literal["corn"] = Field("corn", description="Cross entropy of ordered classes (CORN).")


def _similarity_mistakes(loss: SoftmaxCrossEntropy | SequenceSoftmaxCrossEntropy) -> Iterator[InitErrorDetails]:
    rows = loss.class_similarities
    if rows is None:
        return
    if "class_similarities_temperature" not in loss.model_fields_set:
        message = "acts only with class_similarities_temperature, which is missing: its default of 0 ignores them"
        yield relation(message, "class_similarities", found=rows)
    if any(len(row) != len(rows) for row in rows):
        yield relation("as many rows as columns are needed, one for each class", "class_similarities", found=rows)


_DISTANCES = {
    "mean_squared_error": "losses.MeanSquaredError",
    "mean_absolute_error": "losses.MeanAbsoluteError",
    "mean_absolute_percentage_error": "losses.MeanAbsolutePercentageError",
    "huber": "losses.Huber",
}
_SOFTMAX = {"softmax_cross_entropy": "losses.SoftmaxCrossEntropy"}
_TOKENS = {
    "sequence_softmax_cross_entropy": "losses.SequenceSoftmaxCrossEntropy",
    "next_token_softmax_cross_entropy": "losses.NextTokenSoftmaxCrossEntropy",
}

LOSSES = {
    "number": {
        **_DISTANCES,
        "root_mean_squared_error": "losses.RootMeanSquaredError",
        "root_mean_squared_percentage_error": "losses.RootMeanSquaredPercentageError",
    },
    "binary": {"binary_weighted_cross_entropy": "losses.BinaryWeightedCrossEntropy"},
    "category": {**_SOFTMAX, "corn": "losses.Corn"},
    "category_distribution": _SOFTMAX,
    "set": {"sigmoid_cross_entropy": "losses.SigmoidCrossEntropy"},
    "vector": {**_DISTANCES, **_SOFTMAX},
    "timeseries": _DISTANCES,
    "sequence": _TOKENS,
    "text": _TOKENS,
    "image": _SOFTMAX,
}
"""Output type → the losses that it may have."""
