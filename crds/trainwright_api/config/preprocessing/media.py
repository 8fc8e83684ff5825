"""How columns of sounds, pictures and places on the globe are read."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from trainwright_api.config.preprocessing.fields import MissingValueStrategy
from trainwright_api.schema.fields import NonNegativeFloat, PositiveInt
from trainwright_api.schema.section import Section

InMemory = Annotated[bool, Field(description="Whether the encoded files are kept in memory.")]
_H3_OF_NOWHERE = 576495936675512319


class AudioPreprocessing(Section):
    """How a column of sound files is read."""

    audio_file_length_limit_in_s: NonNegativeFloat = Field(7.5, description="Longest sound, in seconds.")
    missing_value_strategy: MissingValueStrategy = "bfill"
    fill_value: NonNegativeFloat | None = Field(None, description="The value that fill_with_const fills in.")
    computed_fill_value: NonNegativeFloat | None = Field(
        None, description="The value that was filled in; computed, not read."
    )
    in_memory: InMemory = True
    padding_value: NonNegativeFloat = Field(0.0, description="The value that fills up short sounds.")
    norm: Literal["per_file"] | None = Field(None, description="Whether each file is scaled by its own statistics.")
    type: Literal["fbank", "group_delay", "raw", "stft", "stft_phase"] = Field(
        "fbank", description="What is computed from the sound."
    )
    window_length_in_s: NonNegativeFloat = Field(
        0.04, description="Length of the Fourier transform's window, in seconds."
    )
    window_shift_in_s: NonNegativeFloat = Field(0.02, description="Time from one window to the next, in seconds.")
    num_fft_points: NonNegativeFloat | None = Field(
        None, description="Points of the Fourier transform; null for the window's length."
    )
    window_type: Literal["bartlett", "blackman", "hamming", "hann"] = Field(
        "hamming", description="Shape of the window."
    )
    num_filter_bands: PositiveInt = Field(80, description="Number of filter bands of fbank.")


class ImagePreprocessing(Section):
    """How a column of pictures is read."""

    missing_value_strategy: MissingValueStrategy = "bfill"
    fill_value: NonNegativeFloat | None = Field(None, description="The value that fill_with_const fills in.")
    computed_fill_value: NonNegativeFloat | None = Field(
        None, description="The value that was filled in; computed, not read."
    )
    height: PositiveInt | None = Field(None, description="Height in pixels; found from the data where null.")
    width: PositiveInt | None = Field(None, description="Width in pixels; found from the data where null.")
    num_channels: PositiveInt | None = Field(None, description="Number of channels; found from the data where null.")
    resize_method: Literal["crop_or_pad", "interpolate"] = Field(
        "interpolate", description="How pictures are brought to one size."
    )
    infer_image_num_channels: bool = Field(True, description="Whether the number of channels is found from a sample.")
    infer_image_dimensions: bool = Field(True, description="Whether height and width are found from a sample.")
    infer_image_max_height: PositiveInt = Field(256, description="Greatest height that is found, in pixels.")
    infer_image_max_width: PositiveInt = Field(256, description="Greatest width that is found, in pixels.")
    infer_image_sample_size: PositiveInt = Field(100, description="Number of pictures in the sample.")
    standardize_image: Literal["imagenet1k"] | None = Field(
        None, description="Data set by whose statistics pictures are scaled."
    )
    in_memory: InMemory = True
    num_processes: PositiveInt = Field(1, description="Number of processes that read pictures.")
    requires_equal_dimensions: bool = Field(False, description="Whether height and width must be equal.")
    num_classes: PositiveInt | None = Field(
        None, description="Number of classes of a mask; found from the data where null."
    )
    infer_image_num_classes: bool = Field(False, description="Whether the number of classes is found from a sample.")


class ImageOutputPreprocessing(ImagePreprocessing):
    """How a target of masks is read."""

    missing_value_strategy: MissingValueStrategy = "drop_row"


class H3Preprocessing(Section):
    """How a column of H3 cells is read."""

    missing_value_strategy: MissingValueStrategy = "fill_with_const"
    fill_value: PositiveInt = Field(_H3_OF_NOWHERE, description="The cell that fill_with_const fills in.")
    computed_fill_value: PositiveInt = Field(
        _H3_OF_NOWHERE, description="The cell that was filled in; computed, not read."
    )
