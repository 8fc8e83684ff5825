"""Defaults of all features of a type."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from trainwright_api.config import inputs, outputs
from trainwright_api.config import inputs_media as media
from trainwright_api.config import inputs_tokens as tokens
from trainwright_api.config import outputs_media as masks
from trainwright_api.config import outputs_tokens as sequences
from trainwright_api.config.augmentation import AUGMENTATIONS, Augmentation
from trainwright_api.config.decoders import Decoder
from trainwright_api.config.encoders import Encoder
from trainwright_api.config.losses import Loss
from trainwright_api.config.preprocessing import (
    AudioPreprocessing,
    BagPreprocessing,
    BinaryPreprocessing,
    CategoryPreprocessing,
    DatePreprocessing,
    H3Preprocessing,
    ImagePreprocessing,
    NumberPreprocessing,
    SequencePreprocessing,
    SetPreprocessing,
    TextPreprocessing,
    TimeseriesPreprocessing,
    VectorPreprocessing,
)
from trainwright_api.schema.section import Section

_PREPROCESSING = "How columns of this type are read, as inputs and as outputs."
_ENCODER = "Encoder of the inputs of this type."
_DECODER = "Decoder of the outputs of this type."
_LOSS = "Loss of the outputs of this type."


class NumberDefaults(Section):
    """Defaults of number features."""

    preprocessing: NumberPreprocessing = Field(default_factory=NumberPreprocessing, description=_PREPROCESSING)
    encoder: Annotated[Encoder, inputs.NUMBER_ENCODER] = Field(
        default_factory=inputs.NUMBER_ENCODER.make, description=_ENCODER
    )
    decoder: Annotated[Decoder, outputs.NUMBER_DECODER] = Field(
        default_factory=outputs.NUMBER_DECODER.make, description=_DECODER
    )
    loss: Annotated[Loss, outputs.NUMBER_LOSS] = Field(default_factory=outputs.NUMBER_LOSS.make, description=_LOSS)


class BinaryDefaults(Section):
    """Defaults of binary features."""

    preprocessing: BinaryPreprocessing = Field(default_factory=BinaryPreprocessing, description=_PREPROCESSING)
    encoder: Annotated[Encoder, inputs.BINARY_ENCODER] = Field(
        default_factory=inputs.BINARY_ENCODER.make, description=_ENCODER
    )
    decoder: Annotated[Decoder, outputs.BINARY_DECODER] = Field(
        default_factory=outputs.BINARY_DECODER.make, description=_DECODER
    )
    loss: Annotated[Loss, outputs.BINARY_LOSS] = Field(default_factory=outputs.BINARY_LOSS.make, description=_LOSS)


class CategoryDefaults(Section):
    """Defaults of category features."""

    preprocessing: CategoryPreprocessing = Field(default_factory=CategoryPreprocessing, description=_PREPROCESSING)
    encoder: Annotated[Encoder, inputs.CATEGORY_ENCODER] = Field(
        default_factory=inputs.CATEGORY_ENCODER.make, description=_ENCODER
    )
    decoder: Annotated[Decoder, outputs.CATEGORY_DECODER] = Field(
        default_factory=outputs.CATEGORY_DECODER.make, description=_DECODER
    )
    loss: Annotated[Loss, outputs.CATEGORY_LOSS] = Field(default_factory=outputs.CATEGORY_LOSS.make, description=_LOSS)


class DateDefaults(Section):
    """Defaults of date features."""

    preprocessing: DatePreprocessing = Field(default_factory=DatePreprocessing, description=_PREPROCESSING)
    encoder: Annotated[Encoder, inputs.DATE_ENCODER] = Field(
        default_factory=inputs.DATE_ENCODER.make, description=_ENCODER
    )


class VectorDefaults(Section):
    """Defaults of vector features."""

    preprocessing: VectorPreprocessing = Field(default_factory=VectorPreprocessing, description=_PREPROCESSING)
    encoder: Annotated[Encoder, inputs.VECTOR_ENCODER] = Field(
        default_factory=inputs.VECTOR_ENCODER.make, description=_ENCODER
    )
    decoder: Annotated[Decoder, outputs.VECTOR_DECODER] = Field(
        default_factory=outputs.VECTOR_DECODER.make, description=_DECODER
    )
    loss: Annotated[Loss, outputs.VECTOR_LOSS] = Field(default_factory=outputs.VECTOR_LOSS.make, description=_LOSS)


class TextDefaults(Section):
    """Defaults of text features."""

    preprocessing: TextPreprocessing = Field(default_factory=TextPreprocessing, description=_PREPROCESSING)
    encoder: Annotated[Encoder, tokens.TEXT_ENCODER] = Field(
        default_factory=tokens.TEXT_ENCODER.make, description=_ENCODER
    )
    decoder: Annotated[Decoder, sequences.TEXT_DECODER] = Field(
        default_factory=sequences.TEXT_DECODER.make, description=_DECODER
    )
    loss: Annotated[Loss, sequences.TEXT_LOSS] = Field(default_factory=sequences.TEXT_LOSS.make, description=_LOSS)


class SequenceDefaults(Section):
    """Defaults of sequence features."""

    preprocessing: SequencePreprocessing = Field(default_factory=SequencePreprocessing, description=_PREPROCESSING)
    encoder: Annotated[Encoder, tokens.SEQUENCE_ENCODER] = Field(
        default_factory=tokens.SEQUENCE_ENCODER.make, description=_ENCODER
    )
    decoder: Annotated[Decoder, sequences.SEQUENCE_DECODER] = Field(
        default_factory=sequences.SEQUENCE_DECODER.make, description=_DECODER
    )
    loss: Annotated[Loss, sequences.SEQUENCE_LOSS] = Field(
        default_factory=sequences.SEQUENCE_LOSS.make, description=_LOSS
    )


class SetDefaults(Section):
    """Defaults of set features."""

    preprocessing: SetPreprocessing = Field(default_factory=SetPreprocessing, description=_PREPROCESSING)
    encoder: Annotated[Encoder, tokens.SET_ENCODER] = Field(
        default_factory=tokens.SET_ENCODER.make, description=_ENCODER
    )
    decoder: Annotated[Decoder, sequences.SET_DECODER] = Field(
        default_factory=sequences.SET_DECODER.make, description=_DECODER
    )
    loss: Annotated[Loss, sequences.SET_LOSS] = Field(default_factory=sequences.SET_LOSS.make, description=_LOSS)


class BagDefaults(Section):
    """Defaults of bag features."""

    preprocessing: BagPreprocessing = Field(default_factory=BagPreprocessing, description=_PREPROCESSING)
    encoder: Annotated[Encoder, tokens.BAG_ENCODER] = Field(
        default_factory=tokens.BAG_ENCODER.make, description=_ENCODER
    )


class H3Defaults(Section):
    """Defaults of h3 features."""

    preprocessing: H3Preprocessing = Field(default_factory=H3Preprocessing, description=_PREPROCESSING)
    encoder: Annotated[Encoder, media.H3_ENCODER] = Field(default_factory=media.H3_ENCODER.make, description=_ENCODER)


class ImageDefaults(Section):
    """Defaults of image features."""

    preprocessing: ImagePreprocessing = Field(default_factory=ImagePreprocessing, description=_PREPROCESSING)
    encoder: Annotated[Encoder, media.IMAGE_ENCODER] = Field(
        default_factory=media.IMAGE_ENCODER.make, description=_ENCODER
    )
    decoder: Annotated[Decoder, masks.IMAGE_DECODER] = Field(
        default_factory=masks.IMAGE_DECODER.make, description=_DECODER
    )
    loss: Annotated[Loss, masks.IMAGE_LOSS] = Field(default_factory=masks.IMAGE_LOSS.make, description=_LOSS)
    augmentation: Annotated[list[Augmentation], AUGMENTATIONS] = Field(
        default_factory=list, description="Random image transforms, applied during training."
    )


class AudioDefaults(Section):
    """Defaults of audio features."""

    preprocessing: AudioPreprocessing = Field(default_factory=AudioPreprocessing, description=_PREPROCESSING)
    encoder: Annotated[Encoder, media.AUDIO_ENCODER] = Field(
        default_factory=media.AUDIO_ENCODER.make, description=_ENCODER
    )


class TimeseriesDefaults(Section):
    """Defaults of timeseries features."""

    preprocessing: TimeseriesPreprocessing = Field(default_factory=TimeseriesPreprocessing, description=_PREPROCESSING)
    encoder: Annotated[Encoder, tokens.TIMESERIES_ENCODER] = Field(
        default_factory=tokens.TIMESERIES_ENCODER.make, description=_ENCODER
    )
    decoder: Annotated[Decoder, sequences.TIMESERIES_DECODER] = Field(
        default_factory=sequences.TIMESERIES_DECODER.make, description=_DECODER
    )
    loss: Annotated[Loss, sequences.TIMESERIES_LOSS] = Field(
        default_factory=sequences.TIMESERIES_LOSS.make, description=_LOSS
    )


class Defaults(Section):
    """Defaults of the features of each type."""

    audio: AudioDefaults | None = Field(None, description="Defaults of audio features.")
    bag: BagDefaults | None = Field(None, description="Defaults of bag features.")
    binary: BinaryDefaults | None = Field(None, description="Defaults of binary features.")
    category: CategoryDefaults | None = Field(None, description="Defaults of category features.")
    date: DateDefaults | None = Field(None, description="Defaults of date features.")
    h3: H3Defaults | None = Field(None, description="Defaults of h3 features.")
    image: ImageDefaults | None = Field(None, description="Defaults of image features.")
    number: NumberDefaults | None = Field(None, description="Defaults of number features.")
    sequence: SequenceDefaults | None = Field(None, description="Defaults of sequence features.")
    set: SetDefaults | None = Field(None, description="Defaults of set features.")
    text: TextDefaults | None = Field(None, description="Defaults of text features.")
    timeseries: TimeseriesDefaults | None = Field(None, description="Defaults of timeseries features.")
    vector: VectorDefaults | None = Field(None, description="Defaults of vector features.")
