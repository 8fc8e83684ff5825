"""The base class of the output features: a decoder, a loss and a metric of the type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field
from pydantic_core import InitErrorDetails

from trainwright_api.config.decoders import DECODERS
from trainwright_api.config.feature import BaseOutput
from trainwright_api.config.losses import LOSSES
from trainwright_api.config.metric_names import METRICS
from trainwright_api.schema.choice import Choice
from trainwright_api.schema.fields import Fraction
from trainwright_api.schema.section import unknown_word

Metric = Annotated[
    str, Field(description="Metric that selects the best evaluation, unless the trainer section names one.")
]
Threshold = Annotated[Fraction, Field(description="Probability from which the prediction is positive.")]


def decoder_choice(feature_type: str, default: str) -> Choice:
    """The choice among the decoders of an output type."""
    return Choice(f"decoder of a {feature_type} output", "trainwright_api.config", DECODERS[feature_type], default)


def loss_choice(feature_type: str, default: str) -> Choice:
    """The choice among the losses of an output type."""
    return Choice(f"loss of a {feature_type} output", "trainwright_api.config", LOSSES[feature_type], default)


class Output(BaseOutput):
    """An output feature with the metrics of its type."""

    default_validation_metric: Metric = "loss"

    def mistakes(self) -> Iterator[InitErrorDetails]:
        """Yield contradictions between fields that are valid on their own."""
        feature_type, metric = self.type, self.default_validation_metric
        if metric not in METRICS[feature_type]:
            error = unknown_word(f"metric of a {feature_type} output", metric, METRICS[feature_type])
            yield {"type": error, "loc": ("default_validation_metric",), "input": metric}
