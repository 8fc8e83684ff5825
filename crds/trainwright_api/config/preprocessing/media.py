"""The preprocessing parameters of audio, image and H3 columns."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from trainwright_api.config.preprocessing.fields import CacheEncoderEmbeddings, MissingValueStrategy
from trainwright_api.schema.fields import NonNegativeFloat, PositiveInt
from trainwright_api.schema.section import Section

InMemory = Annotated[bool, Field(description="Keep the encoded files in memory.")]
_H3_OF_NOWHERE = 576495936675512319


class AudioPreprocessing(Section):
    """Preprocessing of an audio column."""

    audio_file_length_limit_in_s: NonNegativeFloat = Field(
        7.5, description="Maximum length of an audio file in seconds."
    )
    missing_value_strategy: MissingValueStrategy = "bfill"
    fill_value: NonNegativeFloat | None = Field(None, description="Value that fill_with_const uses.")
    computed_fill_value: NonNegativeFloat | None = Field(
        None, description="Value that was used. Written by the preprocessing, not read."
    )
    in_memory: InMemory = True
    padding_value: NonNegativeFloat = Field(0.0, description="Padding value of short audio files.")
    norm: Literal["per_file"] | None = Field(None, description="Normalize each file by its own statistics.")
    type: Literal["fbank", "group_delay", "raw", "stft", "stft_phase"] = Field(
        "fbank", description="Feature that is computed from the audio."
    )
    window_length_in_s: NonNegativeFloat = Field(
        0.04, description="Length of the Fourier transform's window in seconds."
    )
    window_shift_in_s: NonNegativeFloat = Field(0.02, description="Time between two windows in seconds.")
    num_fft_points: NonNegativeFloat | None = Field(
        None, description="Number of points of the Fourier transform. null: the length of the window."
    )
    window_type: Literal["bartlett", "blackman", "hamming", "hann"] = Field("hamming", description="Window function.")
    num_filter_bands: PositiveInt = Field(80, description="Number of filter bands of fbank.")


class ImagePreprocessing(Section):
    """Preprocessing of an image column."""

    missing_value_strategy: MissingValueStrategy = "bfill"
    fill_value: NonNegativeFloat | None = Field(
        None, description="Value of each pixel, from 0 to 255, in the image that fill_with_const uses. null: 0."
    )
    computed_fill_value: NonNegativeFloat | None = Field(
        None, description="Value that was used. Written by the preprocessing, not read."
    )
    height: PositiveInt | None = Field(None, description="Height in pixels. null: derived from the data.")
    width: PositiveInt | None = Field(None, description="Width in pixels. null: derived from the data.")
    num_channels: PositiveInt | None = Field(None, description="Number of channels. null: derived from the data.")
    resize_method: Literal["crop_or_pad", "interpolate"] = Field("interpolate", description="Method of resizing.")
    infer_image_num_channels: bool = Field(True, description="Derive the number of channels from a sample.")
    infer_image_dimensions: bool = Field(True, description="Derive height and width from a sample.")
    infer_image_max_height: PositiveInt = Field(256, description="Maximum of the derived height in pixels.")
    infer_image_max_width: PositiveInt = Field(256, description="Maximum of the derived width in pixels.")
    infer_image_sample_size: PositiveInt = Field(100, description="Number of images in the sample.")
    standardize_image: Literal["imagenet1k"] | None = Field(
        None, description="Data set whose statistics standardize the images."
    )
    in_memory: InMemory = True
    num_processes: PositiveInt = Field(
        1, description="Number of threads that read and decode images, beside that of the training step."
    )
    requires_equal_dimensions: bool = Field(False, description="Require equal height and width.")
    num_classes: PositiveInt | None = Field(
        None, description="Number of classes of a mask. null: derived from the data."
    )
    infer_image_num_classes: bool = Field(False, description="Derive the number of classes from a sample.")
    cache_encoder_embeddings: CacheEncoderEmbeddings = False


class ImageOutputPreprocessing(ImagePreprocessing):
    """Preprocessing of a target column of masks."""

    missing_value_strategy: MissingValueStrategy = "drop_row"


class H3Preprocessing(Section):
    """Preprocessing of an H3 column."""

    missing_value_strategy: MissingValueStrategy = "fill_with_const"
    fill_value: PositiveInt = Field(_H3_OF_NOWHERE, description="Cell that fill_with_const uses.")
    computed_fill_value: PositiveInt = Field(
        _H3_OF_NOWHERE, description="Cell that was used. Written by the preprocessing, not read."
    )
