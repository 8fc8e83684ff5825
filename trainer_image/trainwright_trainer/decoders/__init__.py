"""The decoders: type of the decoder in a config → its class. A new decoder needs one file and one line here.

Each is built from (config, input size, width of the output, path in the config, start).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from trainwright_trainer.decoders.affine_output import AffineOutput
from trainwright_trainer.decoders.base import Decoder
from trainwright_trainer.decoders.dense import Classifier, Passthrough, Projector, Regressor
from trainwright_trainer.decoders.generator import Generator
from trainwright_trainer.decoders.tagger import Tagger

DECODERS: Mapping[str, Callable[[Any, int, int, str, AffineOutput | None], Decoder]] = {
    "regressor": Regressor,
    "classifier": Classifier,
    "projector": Projector,
    "passthrough": Passthrough,
    "tagger": Tagger,
    "generator": Generator,
}

__all__ = ["DECODERS", "Decoder"]
