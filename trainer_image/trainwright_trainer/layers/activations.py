"""Activation functions by Ludwig's names."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from torch import nn

ACTIVATIONS: Mapping[str, Callable[[], nn.Module]] = {
    "elu": nn.ELU,
    "leakyRelu": nn.LeakyReLU,
    "logSigmoid": nn.LogSigmoid,
    "relu": nn.ReLU,
    "sigmoid": nn.Sigmoid,
    "softmax": lambda: nn.Softmax(dim=-1),
    "tanh": nn.Tanh,
}


def activation(word: str | None) -> nn.Module | None:
    """The activation as a module; None for null, so that a stack has no module without effect."""
    return None if word is None else ACTIVATIONS[word]()
