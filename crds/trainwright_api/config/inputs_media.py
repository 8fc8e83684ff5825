"""Image, audio and H3 input features."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field
from pydantic_core import InitErrorDetails

from trainwright_api.config.augmentation import AUGMENTATIONS, Augmentation
from trainwright_api.config.encoders import Encoder, encoder_choice
from trainwright_api.config.feature import BaseInput, EmbeddedInput
from trainwright_api.config.preprocessing.media import AudioPreprocessing, H3Preprocessing, ImagePreprocessing
from trainwright_api.schema.section import relation

IMAGE_ENCODER = encoder_choice("image")
AUDIO_ENCODER = encoder_choice("audio")
H3_ENCODER = encoder_choice("h3")

_PREPROCESSING = "How the column is read."
_ENCODER = "How the values become vectors."


class ImageInput(EmbeddedInput):
    """An image file."""

    type: Literal["image"] = Field("image", description="An image file.")
    preprocessing: ImagePreprocessing = Field(default_factory=ImagePreprocessing, description=_PREPROCESSING)
    encoder: Annotated[Encoder, IMAGE_ENCODER] = Field(default_factory=IMAGE_ENCODER.make, description=_ENCODER)
    augmentation: Annotated[list[Augmentation], AUGMENTATIONS] = Field(
        default_factory=list, description="Random image transforms, applied during training. true: flips and rotations."
    )

    def mistakes(self) -> Iterator[InitErrorDetails]:
        """An image is encoded once for its cached embedding, so no step of training can change it."""
        yield from super().mistakes()
        if self.preprocessing.cache_encoder_embeddings and self.augmentation:
            message = "is true, and augmentation changes the images in each epoch: leave one of them out"
            yield relation(message, "preprocessing", "cache_encoder_embeddings", found=True)


class AudioInput(BaseInput):
    """An audio file."""

    type: Literal["audio"] = Field("audio", description="An audio file.")
    preprocessing: AudioPreprocessing = Field(default_factory=AudioPreprocessing, description=_PREPROCESSING)
    encoder: Annotated[Encoder, AUDIO_ENCODER] = Field(default_factory=AUDIO_ENCODER.make, description=_ENCODER)


class H3Input(BaseInput):
    """A cell of the H3 geospatial grid."""

    type: Literal["h3"] = Field("h3", description="A cell of the H3 geospatial grid.")
    preprocessing: H3Preprocessing = Field(default_factory=H3Preprocessing, description=_PREPROCESSING)
    encoder: Annotated[Encoder, H3_ENCODER] = Field(default_factory=H3_ENCODER.make, description=_ENCODER)
