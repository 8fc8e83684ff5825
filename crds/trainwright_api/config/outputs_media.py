"""The image output feature: a class for each pixel."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from trainwright_api.config.decoders import UNetDecoder
from trainwright_api.config.feature import ReduceDependencies, ReduceInput
from trainwright_api.config.losses import SoftmaxCrossEntropy
from trainwright_api.config.output import Metric, Output, decoder_choice, loss_choice
from trainwright_api.config.preprocessing.media import ImageOutputPreprocessing

IMAGE_DECODER = decoder_choice("image", "unet")
IMAGE_LOSS = loss_choice("image", "softmax_cross_entropy")

_PREPROCESSING = "How the column is read."
_DECODER = "How the combined vector becomes the output."
_LOSS = "What training makes small."


class ImageOutput(Output):
    """A class for each pixel."""

    type: Literal["image"] = Field("image", description="A class for each pixel.")
    preprocessing: ImageOutputPreprocessing = Field(
        default_factory=ImageOutputPreprocessing, description=_PREPROCESSING
    )
    decoder: Annotated[UNetDecoder, IMAGE_DECODER] = Field(default_factory=IMAGE_DECODER.make, description=_DECODER)
    loss: Annotated[
        SoftmaxCrossEntropy,
        IMAGE_LOSS,
    ] = Field(default_factory=IMAGE_LOSS.make, description=_LOSS)
    default_validation_metric: Metric = "loss"
    reduce_input: ReduceInput = None
    reduce_dependencies: ReduceDependencies = None
