"""The encoders of inputs: (feature type, type of the encoder in a config) → the callable that builds it.

A new encoder needs one class and one line here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from trainwright_trainer.encoders.base import Encoder, EncoderInput, PassthroughEncoder
from trainwright_trainer.encoders.category import Embedded, OneHot, sparse
from trainwright_trainer.encoders.date import DateEmbedded, DateWave
from trainwright_trainer.encoders.dense import Dense
from trainwright_trainer.encoders.image_types import IMAGE_TYPES
from trainwright_trainer.encoders.pretrained import PRETRAINED_TYPES
from trainwright_trainer.encoders.sequence_types import SEQUENCE_TYPES
from trainwright_trainer.encoders.set import SetEmbedded
from trainwright_trainer.encoders.timm import TIMM_TYPES
from trainwright_trainer.encoders.torchvision import TORCHVISION_TYPES

ENCODERS: Mapping[tuple[str, str], Callable[[Any, EncoderInput], Encoder]] = {
    ("number", "passthrough"): lambda _, feature: PassthroughEncoder(feature),
    ("number", "dense"): Dense,
    ("binary", "passthrough"): lambda _, feature: PassthroughEncoder(feature),
    ("binary", "dense"): Dense,
    ("category", "passthrough"): lambda _, feature: PassthroughEncoder(feature),
    ("category", "dense"): Embedded,
    ("category", "sparse"): sparse,
    ("category", "onehot"): OneHot,
    ("date", "embed"): DateEmbedded,
    ("date", "wave"): DateWave,
    ("vector", "passthrough"): lambda _, feature: PassthroughEncoder(feature),
    ("vector", "dense"): Dense,
    ("set", "embed"): SetEmbedded,
    ("bag", "embed"): SetEmbedded,
    **{(kind, word): build for kind in ("sequence", "text") for word, build in SEQUENCE_TYPES.items()},
    **{("text", word): build for word, build in PRETRAINED_TYPES.items()},
    **{("image", word): build for word, build in {**IMAGE_TYPES, **TORCHVISION_TYPES, **TIMM_TYPES}.items()},
}


def encoder_for(type_: str, config: Any, feature: EncoderInput) -> Encoder:
    """The encoder of one input. With `skip` the columns pass through unchanged."""
    if config.skip:
        return PassthroughEncoder(feature)
    return ENCODERS[type_, config.type](config, feature)


__all__ = ["ENCODERS", "Encoder", "EncoderInput", "PassthroughEncoder", "encoder_for"]
