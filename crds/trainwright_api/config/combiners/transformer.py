"""The combiners with self-attention over the inputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field
from pydantic_core import InitErrorDetails

from trainwright_api.config.combiners.base import Combiner
from trainwright_api.config.initializers import BiasInitializer, WeightsInitializer
from trainwright_api.config.layers import FcLayers, OptionalNormParams, stack_mistakes
from trainwright_api.schema.fields import (
    Activation,
    Dropout,
    NoneWord,
    Norm,
    NumFcLayers,
    NumLayers,
    OutputSize,
    PositiveInt,
    ReduceOutput,
    ReductionWord,
    Residual,
    UseBias,
)
from trainwright_api.schema.section import relation
from trainwright_api.schema.unions import ByKind


class AttentionCombiner(Combiner):
    """A stack of transformer blocks over the inputs, then fully connected layers."""

    dropout: Dropout = 0.1
    transformer_output_size: PositiveInt = Field(
        256, description="Width of the feed-forward layer of each transformer block."
    )
    hidden_size: PositiveInt = Field(256, description="Hidden size of the transformer blocks.")
    num_layers: NumLayers = 1
    num_heads: PositiveInt = Field(8, description="Number of attention heads.")
    use_bias: UseBias = True
    bias_initializer: BiasInitializer = "zeros"
    weights_initializer: WeightsInitializer = "xavier_uniform"
    num_fc_layers: NumFcLayers = 0
    output_size: OutputSize = 256
    norm: Norm = None
    norm_params: OptionalNormParams = None
    fc_layers: FcLayers = None
    fc_dropout: Dropout = 0.0
    fc_activation: Activation = "relu"
    fc_residual: Residual = False

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from stack_mistakes(self, "num_fc_layers")
        if self.hidden_size % self.num_heads:
            message = f"hidden_size {self.hidden_size} is no multiple of num_heads {self.num_heads}"
            yield relation(message, "hidden_size", found=self.hidden_size)


class TransformerCombiner(AttentionCombiner):
    """Transformer: self-attention over all inputs."""

    type: Literal["transformer"] = Field("transformer", description="Transformer: self-attention over all inputs.")
    reduce_output: Annotated[
        ReductionWord | None,
        NoneWord,
        Field(description="Reduction of the inputs to one vector. null: each output reduces them (reduce_input)."),
    ] = "mean"

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from super().mistakes()
        if self.reduce_output is None and (self.fc_layers or self.num_fc_layers):
            message = "the fully connected layers take one vector, and reduce_output is null: name a reduction"
            yield relation(message, "reduce_output")


class TabTransformerCombiner(AttentionCombiner):
    """TabTransformer: self-attention over the inputs other than number and binary, concatenated with those."""

    type: Literal["tabtransformer"] = Field(
        "tabtransformer", description="TabTransformer: self-attention over the inputs other than number and binary."
    )
    embed_input_feature_name: (
        Annotated[
            int | Literal["add"],
            ByKind("a whole number of at least 1, or the word add", number=PositiveInt, text=Literal["add"]),
        ]
        | None
    ) = Field(
        None,
        description="Width of a learned vector for each input. add: the vector is added to the input's "
        "embedding. null: none.",
    )
    reduce_output: ReduceOutput = "concat"

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from super().mistakes()
        if self.reduce_output is None:
            yield relation("tabtransformer returns one vector: name a reduction", "reduce_output")
        named = self.embed_input_feature_name
        if isinstance(named, int) and named >= self.hidden_size:
            message = f"the vector of a name is a part of hidden_size {self.hidden_size}: give a smaller number"
            yield relation(message, "embed_input_feature_name", found=named)
