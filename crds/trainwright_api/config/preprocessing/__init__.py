"""The preprocessing parameters of each feature type: missing values, scaling, vocabularies, tokens."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from trainwright_api.config.preprocessing.tabular import (
    BinaryOutputPreprocessing,
    BinaryPreprocessing,
    CategoryDistributionOutputPreprocessing,
    CategoryOutputPreprocessing,
    CategoryPreprocessing,
    DatePreprocessing,
    NumberOutputPreprocessing,
    NumberPreprocessing,
    VectorOutputPreprocessing,
    VectorPreprocessing,
)

if TYPE_CHECKING:
    from trainwright_api.config.preprocessing.media import (
        AudioPreprocessing,
        H3Preprocessing,
        ImageOutputPreprocessing,
        ImagePreprocessing,
    )
    from trainwright_api.config.preprocessing.text import (
        BagPreprocessing,
        SequenceOutputPreprocessing,
        SequencePreprocessing,
        SetOutputPreprocessing,
        SetPreprocessing,
        TextOutputPreprocessing,
        TextPreprocessing,
        TimeseriesOutputPreprocessing,
        TimeseriesPreprocessing,
    )

_MEDIA = ("Audio", "H3", "Image", "ImageOutput")
_TOKENS = (
    "Bag",
    "Sequence",
    "SequenceOutput",
    "Set",
    "SetOutput",
    "Text",
    "TextOutput",
    "Timeseries",
    "TimeseriesOutput",
)
_LATER = {
    **dict.fromkeys((f"{kind}Preprocessing" for kind in _MEDIA), "trainwright_api.config.preprocessing.media"),
    **dict.fromkeys((f"{kind}Preprocessing" for kind in _TOKENS), "trainwright_api.config.preprocessing.text"),
}
"""Names whose module is loaded when they are first asked for: few files have them."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)


__all__ = [
    "AudioPreprocessing",
    "BagPreprocessing",
    "BinaryOutputPreprocessing",
    "BinaryPreprocessing",
    "CategoryDistributionOutputPreprocessing",
    "CategoryOutputPreprocessing",
    "CategoryPreprocessing",
    "DatePreprocessing",
    "H3Preprocessing",
    "ImageOutputPreprocessing",
    "ImagePreprocessing",
    "NumberOutputPreprocessing",
    "NumberPreprocessing",
    "SequenceOutputPreprocessing",
    "SequencePreprocessing",
    "SetOutputPreprocessing",
    "SetPreprocessing",
    "TextOutputPreprocessing",
    "TextPreprocessing",
    "TimeseriesOutputPreprocessing",
    "TimeseriesPreprocessing",
    "VectorOutputPreprocessing",
    "VectorPreprocessing",
]
