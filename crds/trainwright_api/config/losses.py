"""What training makes small, one loss an output; the total is their weighted sum."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field
from pydantic_core import InitErrorDetails

from trainwright_api.schema.choice import Chosen
from trainwright_api.schema.fields import NonNegativeFloat, PositiveFloat
from trainwright_api.schema.section import relation
from trainwright_api.schema.unions import ClassWeights

RobustLambda = Annotated[
    float,
    Field(ge=0, le=1, description="Label smoothing: (1 - robust_lambda) * loss + robust_lambda / number of classes."),
]
ConfidencePenalty = Annotated[
    NonNegativeFloat, Field(description="Factor on a term that grows when a prediction is very sure of itself.")
]
OptionalClassWeights = Annotated[
    ClassWeights | None, Field(description="Weight of each class: a list in the vocabulary's order, or label: weight.")
]
ClassSimilarities = Annotated[
    list[list[float]] | None, Field(description="Similarity of each class to each other one, row by row.")
]
Temperature = Annotated[
    NonNegativeFloat, Field(description="Temperature of the softmax over class_similarities; 0 leaves them out.")
]


class Loss(Chosen):
    """A loss with its weight in the total; `type` names it."""

    weight: NonNegativeFloat = Field(1.0, description="Factor on this loss in the total.")


class MeanSquaredError(Loss):
    """Mean of the squared differences."""

    type: Literal["mean_squared_error"] = Field("mean_squared_error", description="Mean of the squared differences.")


class MeanAbsoluteError(Loss):
    """Mean of the absolute differences."""

    type: Literal["mean_absolute_error"] = Field("mean_absolute_error", description="Mean of the absolute differences.")


class MeanAbsolutePercentageError(Loss):
    """Mean of the absolute differences, each divided by the target."""

    type: Literal["mean_absolute_percentage_error"] = Field(
        "mean_absolute_percentage_error", description="Mean of the absolute differences relative to the target."
    )


class RootMeanSquaredError(Loss):
    """Root of the mean of the squared differences."""

    type: Literal["root_mean_squared_error"] = Field(
        "root_mean_squared_error", description="Root of the mean of the squared differences."
    )


class RootMeanSquaredPercentageError(Loss):
    """Root of the mean of the squared differences, each divided by the target."""

    type: Literal["root_mean_squared_percentage_error"] = Field(
        "root_mean_squared_percentage_error",
        description="Root of the mean of the squared differences relative to the target.",
    )


class Huber(Loss):
    """Squared for small differences, linear for large ones."""

    type: Literal["huber"] = Field("huber", description="Squared for small differences, linear for large ones.")
    delta: PositiveFloat = Field(1.0, description="Difference from which the loss is linear.")


class BinaryWeightedCrossEntropy(Loss):
    """Cross entropy of yes and no, with a weight for yes."""

    type: Literal["binary_weighted_cross_entropy"] = Field(
        "binary_weighted_cross_entropy", description="Cross entropy of two classes."
    )
    positive_class_weight: NonNegativeFloat | None = Field(
        None, description="Factor on the loss of rows whose target is true; null for 1."
    )
    robust_lambda: RobustLambda = 0.0
    confidence_penalty: ConfidencePenalty = 0.0


class SoftmaxCrossEntropy(Loss):
    """Cross entropy of one class out of several."""

    type: Literal["softmax_cross_entropy"] = Field(
        "softmax_cross_entropy", description="Cross entropy of one class out of several."
    )
    class_weights: OptionalClassWeights = None
    robust_lambda: RobustLambda = 0.0
    confidence_penalty: ConfidencePenalty = 0.0
    class_similarities: ClassSimilarities = None
    class_similarities_temperature: Temperature = 0.0

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from _similarity_mistakes(self.class_similarities)


class SequenceSoftmaxCrossEntropy(Loss):
    """Cross entropy of each token of a sequence."""

    type: Literal["sequence_softmax_cross_entropy"] = Field(
        "sequence_softmax_cross_entropy", description="Cross entropy of each token of a sequence."
    )
    class_weights: OptionalClassWeights = None
    robust_lambda: RobustLambda = 0.0
    confidence_penalty: ConfidencePenalty = 0.0
    class_similarities: ClassSimilarities = None
    class_similarities_temperature: Temperature = 0.0
    unique: bool = Field(False, description="Whether each token counts once a sequence.")

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from _similarity_mistakes(self.class_similarities)


class NextTokenSoftmaxCrossEntropy(SequenceSoftmaxCrossEntropy):
    """Cross entropy of the next token."""

    type: Literal["next_token_softmax_cross_entropy"] = Field(  # type: ignore[assignment]
        "next_token_softmax_cross_entropy", description="Cross entropy of the next token."
    )


class SigmoidCrossEntropy(Loss):
    """Cross entropy of yes and no for each class by itself."""

    type: Literal["sigmoid_cross_entropy"] = Field(
        "sigmoid_cross_entropy", description="Cross entropy of yes and no for each class."
    )
    class_weights: OptionalClassWeights = None


class Corn(Loss):
    """Cross entropy of ordered classes (conditional ordinal regression)."""

    type: Literal["corn"] = Field("corn", description="Cross entropy of ordered classes.")


def _similarity_mistakes(rows: list[list[float]] | None) -> Iterator[InitErrorDetails]:
    if rows is not None and any(len(row) != len(rows) for row in rows):
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
