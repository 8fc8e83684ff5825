"""The image encoders of torchvision, with its pretrained weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, cast

from pydantic import Field

from trainwright_api.config.encoders.base import Encoder
from trainwright_api.config.encoders.image import SavedWeights, Trainable, UsePretrained
from trainwright_api.schema.unions import ByKind

_TYPE = "Family of torchvision's models."
_VARIANT = "Member of the family."
_PIXELS: Mapping[tuple[str, str], int] = {
    ("inceptionv3", "base"): 299,
    **{("efficientnet", word): size for word, size in (("b1", 240), ("b2", 288), ("b3", 300), ("b4", 380))},
    **{("efficientnet", word): size for word, size in (("b5", 456), ("b6", 528), ("b7", 600))},
    **{("efficientnet", word): size for word, size in (("v2_s", 384), ("v2_m", 480), ("v2_l", 480))},
    ("regnet", "y_128gf"): 384,
    ("vit", "h_14"): 518,
}
"""Height and width of the images that the pretrained weights read. All others read 224."""


class TorchvisionEncoder(Encoder):
    """A torchvision model without its output layer. It reads 3 channels.

    With pretrained weights, height, width and standardize_image of the preprocessing are those of the weights, unless
    the file gives them.
    """

    use_pretrained: UsePretrained = True
    model_cache_dir: str | None = Field(
        None, description="Folder of the pretrained weights, in the layout of TORCH_HOME. null: torch's cache."
    )
    saved_weights_in_checkpoint: SavedWeights = False
    trainable: Trainable = True

    def own_preprocessing(self) -> dict[str, Any]:
        """The preprocessing that the model needs: always its channels, and the form of the images of its weights."""
        if not self.use_pretrained:
            return {"num_channels": 3}
        fields = cast(Any, self)
        pixels = _PIXELS.get((fields.type, str(fields.model_variant)), 224)
        return {"num_channels": 3, "height": pixels, "width": pixels, "standardize_image": "imagenet1k"}


class AlexNetEncoder(TorchvisionEncoder):
    """torchvision's AlexNet."""

    type: Literal["alexnet"] = Field("alexnet", description=_TYPE)
    model_variant: Literal["base"] = Field("base", description=_VARIANT)


class ConvNeXtEncoder(TorchvisionEncoder):
    """torchvision's ConvNeXt."""

    type: Literal["convnext"] = Field("convnext", description=_TYPE)
    model_variant: Literal["tiny", "small", "base", "large"] = Field("base", description=_VARIANT)


class DenseNetEncoder(TorchvisionEncoder):
    """torchvision's DenseNet."""

    type: Literal["densenet"] = Field("densenet", description=_TYPE)
    model_variant: Literal[121, 161, 169, 201] = Field(121, description=_VARIANT)


class EfficientNetEncoder(TorchvisionEncoder):
    """torchvision's EfficientNet."""

    type: Literal["efficientnet"] = Field("efficientnet", description=_TYPE)
    model_variant: Literal["b0", "b1", "b2", "b3", "b4", "b5", "b6", "b7", "v2_s", "v2_m", "v2_l"] = Field(
        "b0", description=_VARIANT
    )


class GoogLeNetEncoder(TorchvisionEncoder):
    """torchvision's GoogLeNet."""

    type: Literal["googlenet"] = Field("googlenet", description=_TYPE)
    model_variant: Literal["base"] = Field("base", description=_VARIANT)


class InceptionV3Encoder(TorchvisionEncoder):
    """torchvision's InceptionV3."""

    type: Literal["inceptionv3"] = Field("inceptionv3", description=_TYPE)
    model_variant: Literal["base"] = Field("base", description=_VARIANT)


class MaxVitEncoder(TorchvisionEncoder):
    """torchvision's MaxVit."""

    type: Literal["maxvit"] = Field("maxvit", description=_TYPE)
    model_variant: Literal["t"] = Field("t", description=_VARIANT)


class MNASNetEncoder(TorchvisionEncoder):
    """torchvision's MNASNet."""

    type: Literal["mnasnet"] = Field("mnasnet", description=_TYPE)
    model_variant: Literal["0_5", "0_75", "1_0", "1_3"] = Field("0_5", description=_VARIANT)


class MobileNetV2Encoder(TorchvisionEncoder):
    """torchvision's MobileNetV2."""

    type: Literal["mobilenetv2"] = Field("mobilenetv2", description=_TYPE)
    model_variant: Literal["base"] = Field("base", description=_VARIANT)


class MobileNetV3Encoder(TorchvisionEncoder):
    """torchvision's MobileNetV3."""

    type: Literal["mobilenetv3"] = Field("mobilenetv3", description=_TYPE)
    model_variant: Literal["small", "large"] = Field("small", description=_VARIANT)


class RegNetEncoder(TorchvisionEncoder):
    """torchvision's RegNet."""

    type: Literal["regnet"] = Field("regnet", description=_TYPE)
    model_variant: Literal[
        "x_1_6gf",
        "x_16gf",
        "x_32gf",
        "x_3_2gf",
        "x_400mf",
        "x_800mf",
        "x_8gf",
        "y_128gf",
        "y_16gf",
        "y_1_6gf",
        "y_32gf",
        "y_3_2gf",
        "y_400mf",
        "y_800mf",
        "y_8gf",
    ] = Field("x_1_6gf", description=_VARIANT)


class ResNetEncoder(TorchvisionEncoder):
    """torchvision's ResNet."""

    type: Literal["resnet"] = Field("resnet", description=_TYPE)
    model_variant: Literal[18, 34, 50, 101, 152] = Field(50, description=_VARIANT)


class ResNeXtEncoder(TorchvisionEncoder):
    """torchvision's ResNeXt."""

    type: Literal["resnext"] = Field("resnext", description=_TYPE)
    model_variant: Literal["50_32x4d", "101_32x8d", "101_64x4d"] = Field("50_32x4d", description=_VARIANT)


class ShuffleNetV2Encoder(TorchvisionEncoder):
    """torchvision's ShuffleNetV2."""

    type: Literal["shufflenet_v2"] = Field("shufflenet_v2", description=_TYPE)
    model_variant: Literal["x0_5", "x1_0", "x1_5", "x2_0"] = Field("x0_5", description=_VARIANT)


class SqueezeNetEncoder(TorchvisionEncoder):
    """torchvision's SqueezeNet."""

    type: Literal["squeezenet"] = Field("squeezenet", description=_TYPE)
    model_variant: Literal["1_0", "1_1"] = Field("1_0", description=_VARIANT)


class SwinTransformerEncoder(TorchvisionEncoder):
    """torchvision's SwinTransformer."""

    type: Literal["swin_transformer"] = Field("swin_transformer", description=_TYPE)
    model_variant: Literal["t", "s", "b"] = Field("t", description=_VARIANT)


class VGGEncoder(TorchvisionEncoder):
    """torchvision's VGG."""

    type: Literal["vgg"] = Field("vgg", description=_TYPE)
    model_variant: Annotated[
        int | str,
        ByKind(
            "11, 13, 16, 19, or one of these with _bn",
            number=Literal[11, 13, 16, 19],
            text=Literal["11_bn", "13_bn", "16_bn", "19_bn"],
        ),
    ] = Field(11, description=_VARIANT)


class ViTEncoder(TorchvisionEncoder):
    """torchvision's ViT."""

    type: Literal["vit"] = Field("vit", description=_TYPE)
    model_variant: Literal["b_16", "b_32", "l_16", "l_32", "h_14"] = Field("b_16", description=_VARIANT)


class WideResNetEncoder(TorchvisionEncoder):
    """torchvision's WideResNet."""

    type: Literal["wide_resnet"] = Field("wide_resnet", description=_TYPE)
    model_variant: Literal["50_2", "101_2"] = Field("50_2", description=_VARIANT)
