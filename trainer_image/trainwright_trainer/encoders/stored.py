"""What encoders read from files before a run begins: weights of a library's model, and vectors of words."""

from __future__ import annotations

from torch import nn

from trainwright_trainer.encoders.image import LibraryEncoder
from trainwright_trainer.layers.embedding import Embedding


def check_stored(encoders: nn.Module) -> None:
    """Raise `Mistakes` if the files of an encoder cannot be read, or do not fit."""
    for module in encoders.modules():
        if isinstance(module, LibraryEncoder | Embedding):
            module.check_stored()
