"""The image encoders of the library timm, with its pretrained weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field
from pydantic_core import InitErrorDetails

from trainwright_api.config.encoders.base import Encoder
from trainwright_api.config.encoders.image import SavedWeights, Trainable, UsePretrained
from trainwright_api.schema.fields import Name
from trainwright_api.schema.section import relation

_TYPE = "Family of timm's models."
ModelName = Annotated[
    Name, Field(description="Name of the model in timm, with the tag of its weights if they are not the usual ones.")
]


class AnyTimmEncoder(Encoder):
    """A model of timm without its output layer.

    With pretrained weights, the size of the images, the mean and the deviation of their pixels are those of the
    weights, unless the file gives height and width, or standardize_image.
    """

    model_name: ModelName = "caformer_s18"
    use_pretrained: UsePretrained = True
    saved_weights_in_checkpoint: SavedWeights = False
    trainable: Trainable = True


class TimmEncoder(AnyTimmEncoder):
    """A model of timm by its name."""

    type: Literal["timm"] = Field("timm", description=_TYPE)


class TimmFamilyEncoder(AnyTimmEncoder):
    """A model of one family of timm."""

    def mistakes(self) -> Iterator[InitErrorDetails]:
        """The names of a family begin with its name."""
        family, name = (getattr(self, field, "") for field in ("type", "model_name"))
        if not name.startswith(family):
            yield relation(
                f"is no {family}: its name begins with {family}, or the type is timm", "model_name", found=name
            )


class CAFormerEncoder(TimmFamilyEncoder):
    """timm's CAFormer."""

    type: Literal["caformer"] = Field("caformer", description=_TYPE)


class ConvFormerEncoder(TimmFamilyEncoder):
    """timm's ConvFormer."""

    type: Literal["convformer"] = Field("convformer", description=_TYPE)
    model_name: ModelName = "convformer_s18"


class PoolFormerEncoder(TimmFamilyEncoder):
    """timm's PoolFormer, version 1 or 2."""

    type: Literal["poolformer"] = Field("poolformer", description=_TYPE)
    model_name: ModelName = "poolformerv2_s12"


class ConvNeXtV2Encoder(TimmFamilyEncoder):
    """timm's ConvNeXt, version 2."""

    type: Literal["convnextv2"] = Field("convnextv2", description=_TYPE)
    model_name: ModelName = "convnextv2_base"
