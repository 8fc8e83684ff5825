"""The decoders: they compute an output from the combined vector."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field
from pydantic_core import InitErrorDetails

from trainwright_api.config.initializers import BiasInitializer, WeightsInitializer
from trainwright_api.config.layers import FcLayers, OptionalNormParams, stack_mistakes
from trainwright_api.schema.choice import Chosen
from trainwright_api.schema.fields import (
    Activation,
    Dropout,
    InputSize,
    MaxSequenceLength,
    Norm,
    NumFcLayers,
    NumLayers,
    OutputSize,
    PositiveFloat,
    PositiveInt,
    UseBias,
    VocabSize,
)
from trainwright_api.schema.section import relation
from trainwright_api.schema.unions import Bounds

CellType = Annotated[Literal["rnn", "lstm", "gru"], Field(description="Type of the recurrent cell.")]


class Decoder(Chosen):
    """The decoder: fully connected layers and the output layer. `type` selects the output layer."""

    fc_layers: FcLayers = None
    num_fc_layers: NumFcLayers = 0
    fc_output_size: OutputSize = 256
    fc_use_bias: UseBias = True
    fc_weights_initializer: WeightsInitializer = "xavier_uniform"
    fc_bias_initializer: BiasInitializer = "zeros"
    fc_norm: Norm = None
    fc_norm_params: OptionalNormParams = None
    fc_activation: Activation = "relu"
    fc_dropout: Dropout = 0.0

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from stack_mistakes(self, "num_fc_layers", "fc_")


class PassthroughDecoder(Decoder):
    """Returns the combiner's output unchanged."""

    type: Literal["passthrough"] = Field("passthrough", description="Returns the combiner's output unchanged.")
    input_size: PositiveInt = Field(1, description="Width of the input.")


class RegressorDecoder(Decoder):
    """One number, predicted by a linear layer of width 1."""

    type: Literal["regressor"] = Field("regressor", description="A linear layer of width 1.")
    input_size: InputSize = None
    use_bias: UseBias = True
    weights_initializer: WeightsInitializer = "xavier_uniform"
    bias_initializer: BiasInitializer = "zeros"


class ProjectorDecoder(Decoder):
    """A vector, predicted by a linear layer with an optional activation, factor and bounds."""

    type: Literal["projector"] = Field("projector", description="A linear layer as wide as the target.")
    input_size: InputSize = None
    output_size: PositiveInt | None = Field(None, description="Width of the output. null: derived from the data.")
    use_bias: UseBias = True
    weights_initializer: WeightsInitializer = "xavier_uniform"
    bias_initializer: BiasInitializer = "zeros"
    activation: Activation = None
    multiplier: PositiveFloat = Field(1.0, description="Factor on the output, applied after the activation.")
    clip: Bounds | None = Field(None, description="Minimum and maximum of a prediction.")

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from super().mistakes()
        if self.clip and self.clip[0] > self.clip[1]:
            yield relation("the lower bound stands first", "clip", found=list(self.clip))


class ClassifierDecoder(Decoder):
    """One score for each class, computed by a linear layer."""

    type: Literal["classifier"] = Field("classifier", description="A linear layer with one output for each class.")
    input_size: InputSize = None
    num_classes: PositiveInt | None = Field(None, description="Number of classes. null: derived from the data.")
    use_bias: UseBias = True
    weights_initializer: WeightsInitializer = "xavier_uniform"
    bias_initializer: BiasInitializer = "zeros"


class UNetDecoder(Decoder):
    """A class for each pixel, predicted by the expanding path of a U-Net."""

    type: Literal["unet"] = Field("unet", description="Expanding path of a U-Net.")
    input_size: PositiveInt = Field(1024, description="Number of input channels.")
    height: int | None = Field(None, ge=0, description="Height of the output in pixels. null: derived from the data.")
    width: int | None = Field(None, ge=0, description="Width of the output in pixels. null: derived from the data.")
    num_channels: int | None = Field(None, ge=0, description="Number of output channels. null: derived from the data.")
    conv_norm: Literal["batch"] | None = Field("batch", description="Normalization of the convolutions.")
    num_classes: int | None = Field(None, ge=0, description="Number of classes. null: derived from the data.")


class GeneratorDecoder(Decoder):
    """A sequence, generated token by token by a recurrent network."""

    type: Literal["generator"] = Field(
        "generator",
        description=(
            "A recurrent network that generates token by token. "
            "Its metrics read the true tokens before each, predict its own."
        ),
    )
    vocab_size: VocabSize = None
    max_sequence_length: MaxSequenceLength = None
    cell_type: CellType = "gru"
    input_size: PositiveInt = Field(256, description="Width of the input.")
    reduce_input: Literal["sum", "mean", "avg", "max", "concat", "last"] = Field(
        "sum", description="Reduction of an input sequence to one vector."
    )
    num_layers: NumLayers = 1


class TaggerDecoder(Decoder):
    """A class for each step of the input sequence."""

    type: Literal["tagger"] = Field("tagger", description="A class for each step of the input sequence.")
    input_size: PositiveInt = Field(256, description="Width of the input.")
    vocab_size: VocabSize = None
    max_sequence_length: MaxSequenceLength = None
    use_attention: bool = Field(False, description="Apply self-attention before the output layer.")
    use_bias: UseBias = True
    attention_embedding_size: PositiveInt = Field(256, description="Size of the attention's hidden state.")
    attention_num_heads: PositiveInt = Field(8, description="Number of attention heads.")

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from super().mistakes()
        size, heads = self.attention_embedding_size, self.attention_num_heads
        if self.use_attention and size % heads:
            message = f"attention_embedding_size {size} is no multiple of attention_num_heads {heads}"
            yield relation(message, "attention_embedding_size", found=size)


_REGRESSOR = {"regressor": "decoders.RegressorDecoder", "passthrough": "decoders.PassthroughDecoder"}
_CLASSIFIER = {"classifier": "decoders.ClassifierDecoder", "passthrough": "decoders.PassthroughDecoder"}
_PROJECTOR = {"projector": "decoders.ProjectorDecoder", "passthrough": "decoders.PassthroughDecoder"}
_SEQUENCE = {"generator": "decoders.GeneratorDecoder", "tagger": "decoders.TaggerDecoder"}

DECODERS = {
    "number": _REGRESSOR,
    "binary": _REGRESSOR,
    "category": _CLASSIFIER,
    "category_distribution": _CLASSIFIER,
    "set": _CLASSIFIER,
    "vector": _PROJECTOR,
    "timeseries": _PROJECTOR,
    "sequence": _SEQUENCE,
    "text": _SEQUENCE,
    "image": {"unet": "decoders.UNetDecoder"},
}
"""Output type → the decoders that it may have."""
