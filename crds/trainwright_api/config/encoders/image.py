"""The encoders of pictures that are trained from nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field
from pydantic_core import InitErrorDetails

from trainwright_api.config.encoders.base import Encoder
from trainwright_api.config.encoders.recurrent import PoolWord
from trainwright_api.config.initializers import BiasInitializer, WeightsInitializer
from trainwright_api.config.layers import FcLayers, OptionalNormParams, norm_mistakes, stack_mistakes
from trainwright_api.schema.fields import (
    Activation,
    BatchOrLayerNorm,
    Dropout,
    Fraction,
    NonNegativeFloat,
    NonNegativeInt,
    OutputSize,
    PositiveInt,
    UseBias,
    nullable,
)
from trainwright_api.schema.section import Section
from trainwright_api.schema.unions import IntOrPair, NonNegativeIntOrPair, PaddingMode, PixelPadding

Height = Annotated[
    NonNegativeInt | None, Field(description="Height of the pictures in pixels; found from the data where null.")
]
Width = Annotated[
    NonNegativeInt | None, Field(description="Width of the pictures in pixels; found from the data where null.")
]
NumChannels = Annotated[
    NonNegativeInt | None, Field(description="Channels of the pictures; found from the data where null.")
]
OutChannels = Annotated[NonNegativeInt, Field(description="Channels at the output of a convolution.")]
KernelSize = Annotated[IntOrPair, Field(description="Height and width of a convolution's kernel, in pixels.")]
Stride = Annotated[IntOrPair, Field(description="Pixels from one place of the kernel to the next.")]
Dilation = Annotated[IntOrPair, Field(description="Distance of the pixels that a kernel sees.")]
PixelsOfPadding = Annotated[
    PixelPadding | None, Field(description="Pixels around the picture, or same, or valid for none.")
]
Groups = Annotated[PositiveInt, Field(description="Groups of channels that do not see each other.")]
PoolFunction = Annotated[PoolWord, Field(description="How a pool becomes one value.")]
PoolKernelSize = Annotated[IntOrPair | None, Field(description="Height and width of a pool, in pixels.")]
PoolStride = Annotated[
    IntOrPair | None, Field(description="Pixels from one pool to the next; null for the pool's size.")
]
PoolPadding = Annotated[NonNegativeIntOrPair | None, Field(description="Pixels around the picture for pooling.")]
PoolDilation = Annotated[IntOrPair | None, Field(description="Distance of the pixels in a pool.")]
NumFcLayers = Annotated[PositiveInt, Field(description="Number of stacked fully connected layers.")]
SavedWeights = Annotated[
    bool, Field(description="Whether the weights come from a checkpoint; set when one is written.")
]
Trainable = Annotated[bool, Field(description="Whether training changes the encoder's weights.")]
UsePretrained = Annotated[bool, Field(description="Whether the encoder begins with published weights.")]


class Conv2DLayer(Section):
    """One convolution of a stack; what is absent is taken from the encoder's own fields."""

    out_channels: OutChannels | None = nullable(OutChannels)
    kernel_size: KernelSize | None = nullable(KernelSize)
    stride: Stride | None = nullable(Stride)
    padding: PixelsOfPadding = None
    padding_mode: PaddingMode | None = Field(None, description="What stands in the padding.")
    dilation: Dilation | None = nullable(Dilation)
    groups: Groups | None = nullable(Groups)
    conv_use_bias: UseBias | None = nullable(UseBias)
    conv_norm: BatchOrLayerNorm = None
    conv_norm_params: OptionalNormParams = None
    conv_activation: Activation = None
    conv_dropout: Dropout | None = nullable(Dropout)
    pool_function: PoolFunction | None = nullable(PoolFunction)
    pool_kernel_size: PoolKernelSize = None
    pool_stride: PoolStride = None
    pool_padding: PoolPadding = None
    pool_dilation: PoolDilation = None


class ImageEncoder(Encoder):
    """An encoder of pictures."""

    height: Height = None
    width: Width = None
    num_channels: NumChannels = None


class Stacked2DCNNEncoder(ImageEncoder):
    """Convolutions one after another, then fully connected layers."""

    type: Literal["stacked_cnn"] = Field("stacked_cnn", description="Convolutions one after another.")
    conv_dropout: Dropout = 0.0
    conv_activation: Activation = "relu"
    out_channels: OutChannels = 32
    kernel_size: KernelSize = 3
    stride: Stride = 1
    padding_mode: PaddingMode = Field("zeros", description="What stands in the padding.")
    padding: PixelsOfPadding = "valid"
    dilation: Dilation = 1
    groups: Groups = 1
    pool_function: PoolFunction = "max"
    pool_kernel_size: PoolKernelSize = 2
    pool_stride: PoolStride = None
    pool_padding: PoolPadding = 0
    pool_dilation: PoolDilation = 1
    output_size: OutputSize = 128
    conv_use_bias: UseBias = True
    conv_norm: BatchOrLayerNorm = None
    conv_norm_params: OptionalNormParams = None
    num_conv_layers: NonNegativeInt | None = Field(
        None, description="Number of convolutions; null for the usual stack."
    )
    conv_layers: list[Conv2DLayer] | None = Field(
        None, description="The convolutions one by one, instead of their number."
    )
    fc_dropout: Dropout = 0.0
    fc_activation: Activation = "relu"
    fc_use_bias: UseBias = True
    fc_bias_initializer: BiasInitializer = "zeros"
    fc_weights_initializer: WeightsInitializer = "xavier_uniform"
    fc_norm: BatchOrLayerNorm = None
    fc_norm_params: OptionalNormParams = None
    num_fc_layers: NumFcLayers = 1
    fc_layers: FcLayers = None

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from stack_mistakes(self, "num_fc_layers", "fc_")
        yield from norm_mistakes(self.conv_norm, self.conv_norm_params, "conv_norm_params")


class LegacyResNetEncoder(ImageEncoder):
    """Ludwig's own residual network, trained from nothing."""

    type: Literal["_resnet_legacy"] = Field(
        "_resnet_legacy", description="A residual network without published weights."
    )
    dropout: Dropout = 0.0
    activation: Activation = "relu"
    resnet_size: PositiveInt = Field(50, description="Number of layers.")
    out_channels: OutChannels = 32
    kernel_size: KernelSize | None = nullable(KernelSize, 3)
    conv_stride: Stride | None = nullable(Stride, 1)
    first_pool_kernel_size: PoolKernelSize = None
    first_pool_stride: PoolStride = None
    batch_norm_momentum: NonNegativeFloat = Field(0.9, description="Momentum of the batch norm.")
    batch_norm_epsilon: NonNegativeFloat = Field(0.001, description="Added to the variance of the batch norm.")
    use_bias: UseBias = True
    bias_initializer: BiasInitializer = "zeros"
    weights_initializer: WeightsInitializer = "xavier_uniform"
    output_size: OutputSize = 128
    norm: BatchOrLayerNorm = None
    norm_params: OptionalNormParams = None
    num_fc_layers: NumFcLayers = 1
    fc_layers: FcLayers = None

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from stack_mistakes(self, "num_fc_layers")


class MLPMixerEncoder(ImageEncoder):
    """Fully connected layers over patches and over channels, in turn."""

    type: Literal["mlp_mixer"] = Field("mlp_mixer", description="Layers over patches and over channels, in turn.")
    dropout: Dropout = 0.0
    patch_size: PositiveInt = Field(16, description="Side of a patch, in pixels.")
    embed_size: PositiveInt = Field(512, description="Width of a patch's vector.")
    token_size: PositiveInt = Field(2048, description="Width of the layers over patches.")
    channel_dim: PositiveInt = Field(256, description="Width of the layers over channels.")
    num_layers: PositiveInt = Field(8, description="Number of stacked layers.")
    avg_pool: bool = Field(True, description="Whether the patches' vectors are averaged at the end.")


class LegacyViTEncoder(ImageEncoder):
    """A vision transformer of the transformers library."""

    type: Literal["_vit_legacy"] = Field("_vit_legacy", description="A vision transformer of the transformers library.")
    num_hidden_layers: PositiveInt = Field(12, description="Number of blocks.")
    hidden_size: PositiveInt = Field(768, description="Width of the blocks.")
    hidden_act: Literal["relu", "gelu", "selu", "gelu_new"] = Field("gelu", description="Function within the blocks.")
    hidden_dropout_prob: Fraction = Field(0.1, description="Share of the activations set to zero while training.")
    num_attention_heads: PositiveInt = Field(12, description="Number of attention heads.")
    attention_probs_dropout_prob: Fraction = Field(
        0.1, description="Share of the attention set to zero while training."
    )
    intermediate_size: PositiveInt = Field(3072, description="Width of the fully connected layer of each block.")
    initializer_range: NonNegativeFloat = Field(0.02, description="Standard deviation of the weights at the beginning.")
    layer_norm_eps: NonNegativeFloat = Field(1e-12, description="Added to the variance of the layer norm.")
    gradient_checkpointing: bool = Field(False, description="Compute activations again instead of keeping them.")
    patch_size: PositiveInt = Field(16, description="Side of a patch, in pixels.")
    saved_weights_in_checkpoint: SavedWeights = False
    trainable: Trainable = True
    use_pretrained: UsePretrained = True
    pretrained_model: str = Field("google/vit-base-patch16-224", description="Published model to begin with.")


class UNetEncoder(ImageEncoder):
    """The downward half of a U-Net."""

    type: Literal["unet"] = Field("unet", description="The downward half of a U-Net.")
    conv_norm: Literal["batch"] | None = Field("batch", description="Normalisation of the convolutions.")
