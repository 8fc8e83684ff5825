"""Ludwig's encoders of texts and sequences that learn their own embeddings. Where a field is null, the layers are those
of Ludwig."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from trainwright_api.config.encoders.sequence import (
    SequenceEmbedEncoder,
    SequencePassthroughEncoder,
    StackedTransformerEncoder,
)
from trainwright_api.config.encoders.sequence_cnn import (
    CNNEncoder,
    ParallelCNNEncoder,
    StackedCNNEncoder,
    StackedParallelCNNEncoder,
)
from trainwright_api.config.encoders.sequence_rnn import StackedCNNRNNEncoder, StackedRNNEncoder
from trainwright_api.problems import Mistakes
from trainwright_trainer.encoders.base import Encoder, EncoderInput
from trainwright_trainer.encoders.sequence import GivenSteps, SequenceEncoder, TokenNumbers, embedding_of
from trainwright_trainer.layers.convolution import ConvolutionStack, ConvSettings, conv_settings, listed
from trainwright_trainer.layers.embedding import Embedding
from trainwright_trainer.layers.fully_connected import LayerSettings, linear, stack_of
from trainwright_trainer.layers.recurrent import Recurrent
from trainwright_trainer.layers.steps import Steps
from trainwright_trainer.layers.transformer import TransformerBlock

_PARALLEL_SIZES = (2, 3, 4, 5)
_STACKED_LAYERS = ((7, 3), (7, 3), (3, None), (3, None), (3, None), (3, 3))
_CNNRNN_POOLS = (3, None)
_PARALLEL_LAYERS = 3
_CNN_WIDTHS = (512, 256)


def passthrough(config: SequencePassthroughEncoder, feature: EncoderInput) -> Encoder:
    """The steps unchanged: the indices of the tokens, or the vectors that the combiner of sequences gets."""
    embedding = TokenNumbers() if feature.embedded is None else GivenSteps(feature.embedded)
    if config.encoding_size not in (None, embedding.output_size):
        found = f"is {config.encoding_size}, and the steps have the width {embedding.output_size}. Leave it out."
        raise Mistakes.one(f"{feature.path}.encoding_size", found)
    return SequenceEncoder(config, feature, embedding)


def embed(config: SequenceEmbedEncoder, feature: EncoderInput) -> Encoder:
    """The embeddings alone."""
    return SequenceEncoder(config, feature, embedding_of(config, feature))


def parallel_cnn(config: ParallelCNNEncoder, feature: EncoderInput) -> Encoder:
    """One layer of parallel convolutions."""
    default, path = conv_settings(config, feature.path), f"{feature.path}.conv_layers"
    if config.conv_layers is not None:
        layers = listed(default, config.conv_layers, path)
    elif config.num_conv_layers is not None:
        layers = [default] * config.num_conv_layers
    else:
        layers = _of_sizes(default)
    return _cnn(config, feature, [layers], path)


def stacked_cnn(config: StackedCNNEncoder, feature: EncoderInput) -> Encoder:
    """Convolutions one after another."""
    default, path = conv_settings(config, feature.path), f"{feature.path}.conv_layers"
    usual = [replace(default, filter_size=size, pool_size=pool) for size, pool in _STACKED_LAYERS]
    return _cnn(config, feature, [[one] for one in _conv_layers(config, default, usual, path)], path)


def stacked_parallel_cnn(config: StackedParallelCNNEncoder, feature: EncoderInput) -> Encoder:
    """Layers of parallel convolutions one after another."""
    default, path = conv_settings(config, feature.path), f"{feature.path}.stacked_layers"
    if config.stacked_layers is None:
        layers = [_of_sizes(default)] * (config.num_stacked_layers or _PARALLEL_LAYERS)
    else:
        layers = [listed(default, layer, f"{path}[{position}]") for position, layer in enumerate(config.stacked_layers)]
    return _cnn(config, feature, layers, path)


def rnn(config: StackedRNNEncoder, feature: EncoderInput) -> Encoder:
    """A recurrent network."""
    embedding = embedding_of(config, feature)
    layer = Recurrent(embedding.output_size, config.num_layers, config, feature.path)
    return SequenceEncoder(config, feature, embedding, [layer], stack_of(config, feature.path))


def cnnrnn(config: StackedCNNRNNEncoder, feature: EncoderInput) -> Encoder:
    """Convolutions one after another, then a recurrent network."""
    default, path = conv_settings(config, feature.path, "conv_"), f"{feature.path}.conv_layers"
    usual = [replace(default, pool_size=pool) for pool in _CNNRNN_POOLS]
    embedding = embedding_of(config, feature)
    layers = [[one] for one in _conv_layers(config, default, usual, path)]
    convolutions = ConvolutionStack(embedding.output_size, layers, path)
    recurrent = Recurrent(convolutions.output_size, config.num_rec_layers, config, feature.path)
    stack = stack_of(config, feature.path)
    return SequenceEncoder(config, feature, embedding, [convolutions, recurrent], stack)


class Transformer(nn.Module):
    """Steps and their learnt positions → a linear layer, if the widths differ → transformer blocks."""

    def __init__(self, width: int, positions: int, config: StackedTransformerEncoder, path: str) -> None:
        super().__init__()
        self.positions = Embedding(positions, width, config.weights_initializer, path, is_exact=True)
        self.output_size = config.hidden_size
        self.projection = None if width == self.output_size else linear(width, self.output_size)
        self.blocks = nn.ModuleList(
            TransformerBlock(self.output_size, config.num_heads, config.transformer_output_size, config.dropout)
            for _ in range(config.num_layers)
        )

    def length(self, length: int) -> int:
        """The steps of the output for an input of `length` steps."""
        return length

    def forward(self, steps: Steps) -> Steps:
        values = steps.values + self.positions(torch.arange(steps.values.shape[1], device=steps.lengths.device))
        if self.projection is not None:
            values = self.projection(values)
        mask = Steps(values, steps.lengths.clamp(min=1)).mask  # attention over no step at all is undefined
        for block in self.blocks:
            values = block(values, mask)
        return steps.with_values(values)


def transformer(config: StackedTransformerEncoder, feature: EncoderInput) -> Encoder:
    """Transformer blocks."""
    embedding, path = embedding_of(config, feature), f"{feature.path}.weights_initializer"
    layer = Transformer(embedding.output_size, feature.statistics["length"], config, path)
    return SequenceEncoder(config, feature, embedding, [layer], stack_of(config, feature.path))


def _of_sizes(default: ConvSettings) -> list[ConvSettings]:
    return [replace(default, filter_size=size) for size in _PARALLEL_SIZES]


def _conv_layers(
    config: StackedCNNEncoder | StackedCNNRNNEncoder, default: ConvSettings, usual: list[ConvSettings], path: str
) -> list[ConvSettings]:
    """The listed layers, else so many equal ones, else the usual ones."""
    if config.conv_layers is not None:
        return listed(default, config.conv_layers, path)
    return usual if config.num_conv_layers is None else [default] * config.num_conv_layers


def _cnn(config: CNNEncoder, feature: EncoderInput, layers: Sequence[Sequence[ConvSettings]], path: str) -> Encoder:
    embedding = embedding_of(config, feature)
    convolutions = ConvolutionStack(embedding.output_size, layers, path)
    return SequenceEncoder(config, feature, embedding, [convolutions], _cnn_stack(config, feature.path))


def _cnn_stack(config: CNNEncoder, path: str) -> tuple[LayerSettings, ...]:
    if config.fc_layers is not None or config.num_fc_layers is not None:
        return stack_of(config, path)
    whole = config.model_copy(update={"num_fc_layers": 1})
    return tuple(replace(layer, output_size=width) for width in _CNN_WIDTHS for layer in stack_of(whole, path))


SEQUENCE_TYPES: Mapping[str, Callable[[Any, EncoderInput], Encoder]] = {
    "passthrough": passthrough,
    "embed": embed,
    "parallel_cnn": parallel_cnn,
    "stacked_cnn": stacked_cnn,
    "stacked_parallel_cnn": stacked_parallel_cnn,
    "rnn": rnn,
    "cnnrnn": cnnrnn,
    "transformer": transformer,
}
