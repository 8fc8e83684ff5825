"""The multiplications of a forward pass, from the sizes of what its modules return.

A weight of a dense layer is used once a row, that of a text's encoder once a token, that of a convolution once a pixel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from trainwright_trainer.layers.embedding import Embedding
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.models.without_gradients import without_gradients

_CONVOLUTIONS = (nn.modules.conv._ConvNd,)
_TABLES = (nn.Embedding, nn.EmbeddingBag, Embedding)


def multiplications_of_a_row(model: nn.Module, batch: Batch, world: int) -> int:
    """The mean over the rows of `batch`, and at least the number of parameters. Products of two activations, as in
    attention, do not count. `world`: the ranks that share the model. If its parameters are sharded, all must call this.
    """
    found = 0

    def add(module: nn.Module, _: Any, output: Any) -> None:
        nonlocal found
        found += _weights(module) * _positions(module, output)

    was_training = model.training
    model.eval()
    with _after_each_module(model, add), without_gradients(world):
        model(batch)
    model.train(was_training)
    return max(found // len(batch.rows), parameters_of(model))


def parameters_of(model: nn.Module) -> int:
    return sum(math.prod(_shape(parameter)) for parameter in model.parameters())


@contextmanager
def _after_each_module(model: nn.Module, hook: Callable[[nn.Module, Any, Any], None]) -> Iterator[None]:
    handles = [module.register_forward_hook(hook) for module in model.modules() if not isinstance(module, _TABLES)]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _weights(module: nn.Module) -> int:
    """The elements of the module's own matrices and kernels."""
    shapes = map(_shape, module.parameters(recurse=False))
    return sum(math.prod(shape) for shape in shapes if len(shape) > 1)


def _shape(parameter: nn.Parameter) -> Sequence[int]:
    """The shape of the whole parameter. One that ZeRO 3 has sharded is empty outside of its pass."""
    shape: Sequence[int] = getattr(parameter, "ds_shape", parameter.shape)
    return shape


def _positions(module: nn.Module, output: Any) -> int:
    """How often a weight was used: for each row, token or pixel."""
    first = output[0] if isinstance(output, tuple) and output else output
    if not isinstance(first, torch.Tensor) or not first.numel():
        return 0
    features = first.shape[1 if isinstance(module, _CONVOLUTIONS) else -1]
    return first.numel() // features
