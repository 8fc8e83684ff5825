"""Input and output features, one class for each type, and their unions."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from trainwright_api.config.feature import BaseInput, BaseOutput, Feature
from trainwright_api.config.inputs import BinaryInput, CategoryInput, DateInput, InputFeature, NumberInput, VectorInput
from trainwright_api.config.outputs import (
    BinaryOutput,
    CategoryDistributionOutput,
    CategoryOutput,
    NumberOutput,
    OutputFeature,
    VectorOutput,
)

if TYPE_CHECKING:
    from trainwright_api.config.inputs_media import AudioInput, H3Input, ImageInput
    from trainwright_api.config.inputs_tokens import BagInput, SequenceInput, SetInput, TextInput, TimeseriesInput
    from trainwright_api.config.outputs_media import ImageOutput
    from trainwright_api.config.outputs_tokens import SequenceOutput, SetOutput, TextOutput, TimeseriesOutput

_MEDIA = ("AudioInput", "H3Input", "ImageInput")
_TOKENS = ("BagInput", "SequenceInput", "SetInput", "TextInput", "TimeseriesInput")
_LATER = {
    **dict.fromkeys(_MEDIA, "trainwright_api.config.inputs_media"),
    **dict.fromkeys(_TOKENS, "trainwright_api.config.inputs_tokens"),
    **dict.fromkeys(("ImageOutput",), "trainwright_api.config.outputs_media"),
    **dict.fromkeys(
        ("SequenceOutput", "SetOutput", "TextOutput", "TimeseriesOutput"), "trainwright_api.config.outputs_tokens"
    ),
}
"""Names whose module is loaded when they are first asked for: few files have them."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)


__all__ = [
    "AudioInput",
    "BagInput",
    "BaseInput",
    "BaseOutput",
    "BinaryInput",
    "BinaryOutput",
    "CategoryDistributionOutput",
    "CategoryInput",
    "CategoryOutput",
    "DateInput",
    "Feature",
    "H3Input",
    "ImageInput",
    "ImageOutput",
    "InputFeature",
    "NumberInput",
    "NumberOutput",
    "OutputFeature",
    "SequenceInput",
    "SequenceOutput",
    "SetInput",
    "SetOutput",
    "TextInput",
    "TextOutput",
    "TimeseriesInput",
    "TimeseriesOutput",
    "VectorInput",
    "VectorOutput",
]
