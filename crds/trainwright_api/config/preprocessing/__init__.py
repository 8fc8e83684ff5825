"""How the column of each feature type is read: missing values, scaling, vocabularies, tokens."""

from __future__ import annotations

from trainwright_api.config.preprocessing.media import (
    AudioPreprocessing,
    H3Preprocessing,
    ImageOutputPreprocessing,
    ImagePreprocessing,
)
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
