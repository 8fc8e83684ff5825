"""How the combined vector becomes an output: the word of the decoder → its class. A new one is one file and one line.

Each is built from (config, input size, width of the output, path in the config, start).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from trainwright_trainer.decoders.base import Decoder
from trainwright_trainer.decoders.classifier import Classifier
from trainwright_trainer.decoders.passthrough import Passthrough
from trainwright_trainer.decoders.projector import Projector
from trainwright_trainer.decoders.regressor import Regressor
from trainwright_trainer.decoders.start import Start

DECODERS: Mapping[str, Callable[[Any, int, int, str, Start | None], Decoder]] = {
    "regressor": Regressor,
    "classifier": Classifier,
    "projector": Projector,
    "passthrough": Passthrough,
}

__all__ = ["DECODERS", "Decoder"]
