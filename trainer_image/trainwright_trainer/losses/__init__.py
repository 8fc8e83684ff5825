"""The losses: type of the loss in a config → its class. A new loss needs one class and one line here.

Each is built from (config, the target's labels, path in the config); only losses of classes use the labels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from trainwright_trainer.losses.base import Loss
from trainwright_trainer.losses.binary import BinaryWeightedCrossEntropy
from trainwright_trainer.losses.difference import (
    Huber,
    MeanAbsoluteError,
    MeanAbsolutePercentageError,
    MeanSquaredError,
    RootMeanSquaredError,
    RootMeanSquaredPercentageError,
)
from trainwright_trainer.losses.sequence import SequenceSoftmaxCrossEntropy
from trainwright_trainer.losses.sigmoid import SigmoidCrossEntropy
from trainwright_trainer.losses.softmax import SoftmaxCrossEntropy

LOSSES: Mapping[str, Callable[[Any, Sequence[str], str], Loss]] = {
    "mean_squared_error": lambda config, _, __: MeanSquaredError(config),
    "mean_absolute_error": lambda config, _, __: MeanAbsoluteError(config),
    "mean_absolute_percentage_error": lambda config, _, __: MeanAbsolutePercentageError(config),
    "root_mean_squared_error": lambda config, _, __: RootMeanSquaredError(config),
    "root_mean_squared_percentage_error": lambda config, _, __: RootMeanSquaredPercentageError(config),
    "huber": lambda config, _, __: Huber(config),
    "binary_weighted_cross_entropy": lambda config, _, __: BinaryWeightedCrossEntropy(config),
    "softmax_cross_entropy": SoftmaxCrossEntropy,
    "sigmoid_cross_entropy": SigmoidCrossEntropy,
    "sequence_softmax_cross_entropy": SequenceSoftmaxCrossEntropy,
}

__all__ = ["LOSSES", "Loss"]
