"""The image encoders without pretrained weights."""

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

Height = Annotated[NonNegativeInt | None, Field(description="Image height in pixels. null: derived from the data.")]
Width = Annotated[NonNegativeInt | None, Field(description="Image width in pixels. null: derived from the data.")]
NumChannels = Annotated[
    NonNegativeInt | None, Field(description="Number of image channels. null: derived from the data.")
]
OutChannels = Annotated[NonNegativeInt, Field(description="Number of output channels of a convolution.")]
KernelSize = Annotated[IntOrPair, Field(description="Kernel height and width in pixels.")]
Stride = Annotated[IntOrPair, Field(description="Stride of the convolution in pixels.")]
Dilation = Annotated[IntOrPair, Field(description="Dilation of the convolution in pixels.")]
PixelsOfPadding = Annotated[PixelPadding | None, Field(description="Padding in pixels, or same. valid: no padding.")]
Groups = Annotated[PositiveInt, Field(description="Number of channel groups of the convolution.")]
PoolFunction = Annotated[PoolWord, Field(description="Pooling function.")]
PoolKernelSize = Annotated[IntOrPair | None, Field(description="Height and width of the pooling window in pixels.")]
PoolStride = Annotated[
    IntOrPair | None, Field(description="Stride of the pooling in pixels. null: the size of the window.")
]
PoolPadding = Annotated[NonNegativeIntOrPair | None, Field(description="Padding of the pooling in pixels.")]
PoolDilation = Annotated[IntOrPair | None, Field(description="Dilation of the pooling in pixels.")]
NumFcLayers = Annotated[PositiveInt, Field(description="Number of stacked fully connected layers.")]
SavedWeights = Annotated[
    bool, Field(description="True if the weights are loaded from a checkpoint. Written by the training.")
]
Trainable = Annotated[bool, Field(description="Train the weights of the encoder. false: freeze them.")]
UsePretrained = Annotated[bool, Field(description="Start from pretrained weights.")]


class Conv2DLayer(Section):
    """One convolution of a stack. A missing field takes the encoder's value."""

    out_channels: OutChannels | None = nullable(OutChannels)
    kernel_size: KernelSize | None = nullable(KernelSize)
    stride: Stride | None = nullable(Stride)
    padding: PixelsOfPadding = None
    padding_mode: PaddingMode | None = Field(None, description="Padding mode.")
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
    """An image encoder."""

    height: Height = None
    width: Width = None
    num_channels: NumChannels = None


class Stacked2DCNNEncoder(ImageEncoder):
    """Stacked convolutions, then fully connected layers."""

    type: Literal["stacked_cnn"] = Field("stacked_cnn", description="Stacked convolutions.")
    conv_dropout: Dropout = 0.0
    conv_activation: Activation = "relu"
    out_channels: OutChannels = 32
    kernel_size: KernelSize = 3
    stride: Stride = 1
    padding_mode: PaddingMode = Field("zeros", description="Padding mode.")
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
    num_conv_layers: NonNegativeInt | None = Field(None, description="Number of convolutions. null: the default stack.")
    conv_layers: list[Conv2DLayer] | None = Field(
        None, description="A list of convolutions. It replaces num_conv_layers."
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
    """Ludwig's own ResNet, without pretrained weights."""

    type: Literal["_resnet_legacy"] = Field("_resnet_legacy", description="ResNet without pretrained weights.")
    dropout: Dropout = 0.0
    activation: Activation = "relu"
    resnet_size: PositiveInt = Field(50, description="Number of layers.")
    out_channels: OutChannels = 32
    kernel_size: KernelSize | None = nullable(KernelSize, 3)
    conv_stride: Stride | None = nullable(Stride, 1)
    first_pool_kernel_size: PoolKernelSize = None
    first_pool_stride: PoolStride = None
    batch_norm_momentum: NonNegativeFloat = Field(0.9, description="Momentum of the batch norm.")
    batch_norm_epsilon: NonNegativeFloat = Field(0.001, description="Epsilon of the batch norm, added to the variance.")
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
    """MLP-Mixer: fully connected layers over patches and over channels alternate."""

    type: Literal["mlp_mixer"] = Field("mlp_mixer", description="MLP-Mixer.")
    dropout: Dropout = 0.0
    patch_size: PositiveInt = Field(16, description="Height and width of a patch in pixels.")
    embed_size: PositiveInt = Field(512, description="Embedding size of a patch.")
    token_size: PositiveInt = Field(2048, description="Hidden size of the token-mixing layers.")
    channel_dim: PositiveInt = Field(256, description="Hidden size of the channel-mixing layers.")
    num_layers: PositiveInt = Field(8, description="Number of stacked layers.")
    avg_pool: bool = Field(True, description="Average the patches at the end.")


class LegacyViTEncoder(ImageEncoder):
    """A vision transformer (ViT) of the transformers library."""

    type: Literal["_vit_legacy"] = Field(
        "_vit_legacy", description="A vision transformer (ViT) of the transformers library."
    )
    num_hidden_layers: PositiveInt = Field(12, description="Number of transformer blocks.")
    hidden_size: PositiveInt = Field(768, description="Hidden size of the transformer blocks.")
    hidden_act: Literal["relu", "gelu", "selu", "gelu_new"] = Field(
        "gelu", description="Activation function of the feed-forward layers."
    )
    hidden_dropout_prob: Fraction = Field(0.1, description="Dropout rate of the activations.")
    num_attention_heads: PositiveInt = Field(12, description="Number of attention heads.")
    attention_probs_dropout_prob: Fraction = Field(0.1, description="Dropout rate of the attention weights.")
    intermediate_size: PositiveInt = Field(
        3072, description="Width of the feed-forward layer of each transformer block."
    )
    initializer_range: NonNegativeFloat = Field(0.02, description="Standard deviation of the initial weights.")
    layer_norm_eps: NonNegativeFloat = Field(1e-12, description="Epsilon of the layer norm, added to the variance.")
    gradient_checkpointing: bool = Field(
        False, description="Activation checkpointing: recompute activations in the backward pass to save memory."
    )
    patch_size: PositiveInt = Field(16, description="Height and width of a patch in pixels.")
    saved_weights_in_checkpoint: SavedWeights = False
    trainable: Trainable = True
    use_pretrained: UsePretrained = True
    pretrained_model: str = Field("google/vit-base-patch16-224", description="Name of the pretrained model.")


class UNetEncoder(ImageEncoder):
    """Contracting path of a U-Net."""

    type: Literal["unet"] = Field("unet", description="Contracting path of a U-Net.")
    conv_norm: Literal["batch"] | None = Field("batch", description="Normalization of the convolutions.")
