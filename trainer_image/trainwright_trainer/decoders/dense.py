"""The decoders: fully connected layers with one linear head. Passthrough returns the combined vector unchanged."""

from __future__ import annotations

import torch

from trainwright_api.config.decoders import ClassifierDecoder, PassthroughDecoder, ProjectorDecoder, RegressorDecoder
from trainwright_api.problems import Mistakes
from trainwright_trainer.decoders.affine_output import AffineOutput
from trainwright_trainer.decoders.base import Decoder, agree, head
from trainwright_trainer.layers.fully_connected import activation


class Regressor(Decoder):
    """→ [rows, 1]."""

    def __init__(
        self, config: RegressorDecoder, input_size: int, width: int, path: str, start: AffineOutput | None = None
    ) -> None:
        super().__init__(config, input_size, path, start)
        self.head = head(config, self.hidden_size, width, path)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return self.started(self.head(hidden))


class Classifier(Decoder):
    """→ [rows, classes], unscaled log-probabilities."""

    def __init__(
        self, config: ClassifierDecoder, input_size: int, width: int, path: str, start: AffineOutput | None = None
    ) -> None:
        super().__init__(config, input_size, path, start)
        agree(config.num_classes, width, f"{path}.num_classes")
        self.head = head(config, self.hidden_size, width, path)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return self.started(self.head(hidden))


class Projector(Decoder):
    """→ [rows, width]: the linear layer, then the activation, the multiplier and the clipping that the config gives."""

    def __init__(
        self, config: ProjectorDecoder, input_size: int, width: int, path: str, start: AffineOutput | None = None
    ) -> None:
        super().__init__(config, input_size, path, start)
        agree(config.output_size, width, f"{path}.output_size")
        self.head = head(config, self.hidden_size, width, path)
        self.activation = activation(config.activation)
        self.multiplier = config.multiplier
        self.clip = config.clip

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        values = self.started(self.head(hidden))
        if self.activation is not None:
            values = self.activation(values)
        if self.multiplier != 1.0:
            values = values * self.multiplier
        return values if self.clip is None else values.clamp(*self.clip)


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
