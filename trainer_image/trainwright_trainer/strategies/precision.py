"""The floating-point precision of training passes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

from trainwright_api.config.trainer import TrainerConfig
from trainwright_trainer.models.model import DTYPES


class Precision:
    """`autocast()` wraps a training pass. `scaler` is None unless float16 needs scaled gradients.

    Mixed precision is bfloat16 where the device supports it (a CPU always does), else float16. Evaluation never uses
    mixed precision.
    """

    def __init__(self, trainer: TrainerConfig, device: torch.device) -> None:
        self.dtype = DTYPES[trainer.precision]
        half = device.type == "cuda" and not torch.cuda.is_bf16_supported()
        self._mixed = trainer.use_mixed_precision
        self._kind = torch.float16 if half else torch.bfloat16
        self._device = device.type
        self.scaler = torch.amp.GradScaler(device.type) if self._mixed and half else None

    def autocast(self) -> AbstractContextManager[Any]:
        return torch.autocast(self._device, self._kind) if self._mixed else nullcontext()

    def forward(self, model: Callable[..., Any]) -> Callable[..., Any]:
        """Return `model` under autocast, with logits in the run's own dtype: losses never use half precision."""
        if not self._mixed:
            return model

        def computed(batch: Any) -> dict[str, torch.Tensor]:
            with self.autocast():
                logits = model(batch)
            return {name: tensor.to(self.dtype) for name, tensor in logits.items()}

        return computed
