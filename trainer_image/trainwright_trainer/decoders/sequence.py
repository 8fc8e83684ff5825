"""The base class of the decoders of sequences."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import torch

from trainwright_trainer.decoders.base import Decoder
from trainwright_trainer.layers.steps import Steps
from trainwright_trainer.loader.batch import Ragged


class SequenceDecoder(Decoder):
    """`hidden` → `Steps` of logits, at most `length` of them; the outputs set `length`.

    With targets there are as many steps as the longest target has. Without them the decoder predicts, and finds by
    itself how many steps of a row count.
    """

    length: int = 0

    def forward(self, hidden: Any) -> torch.Tensor:
        raise NotImplementedError("a sequence needs `steps`")

    @abstractmethod
    def steps(self, hidden: Any, targets: Ragged | None) -> Steps: ...
