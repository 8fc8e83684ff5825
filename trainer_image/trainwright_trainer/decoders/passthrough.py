"""A decoder that returns the combined vector unchanged, for models whose combiner already has the right width."""

from __future__ import annotations

import torch

from trainwright_api.config.decoders import PassthroughDecoder
from trainwright_api.problems import Mistakes
from trainwright_trainer.decoders.affine_output import AffineOutput
from trainwright_trainer.decoders.base import Decoder, agree


class Passthrough(Decoder):
    """→ [rows, width]. An `input_size` of 1 is the default of every target, so it counts as not given."""

    def __init__(
        self, config: PassthroughDecoder, input_size: int, width: int, path: str, start: AffineOutput | None = None
    ) -> None:
        super().__init__(config, input_size, path, start)
        agree(None if config.input_size == 1 else config.input_size, self.hidden_size, f"{path}.input_size")
        if self.hidden_size != width:
            found = f"decoder 'passthrough' gets {self.hidden_size} values a row and the target has {width}"
            raise Mistakes.one(path, f"{found}. Set output_size in the layers before it, or take another decoder.")

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return hidden
