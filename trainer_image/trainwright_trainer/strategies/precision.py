"""The floating-point precision of forward passes, in training steps and in evaluation rounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import torch

from trainwright_api.config.trainer import TrainerConfig
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.models.model import DTYPES
from trainwright_trainer.models.trainable import Tensors, Trainable

Forward = Callable[[Batch], Tensors]


class Precision:
    """`scaler` is None unless float16 needs scaled gradients.

    Mixed precision is bfloat16 where the device has it (a CPU always does), else float16. A GPU that only emulates
    bfloat16 is slower with it than with float32.
    """

    def __init__(self, trainer: TrainerConfig, device: torch.device) -> None:
        self._dtype = DTYPES[trainer.precision]
        half = device.type == "cuda" and not torch.cuda.is_bf16_supported(including_emulation=False)
        self._mixed = trainer.use_mixed_precision
        self._kind = torch.float16 if half else torch.bfloat16
        self._device = device.type
        self.scaler = torch.amp.GradScaler(device.type) if self._mixed and half else None

    def forward(self, model: Forward) -> Forward:
        """Return `model` under autocast, with logits in the run's own dtype: losses never use half precision."""
        if not self._mixed:
            return model

        def computed(batch: Batch) -> Tensors:
            with torch.autocast(self._device, self._kind):
                logits = model(batch)
            return in_dtype(logits, self._dtype)

        return computed

    def evaluated(self, model: Trainable) -> Trainable:
        """Return `model` with the forward pass of `forward`."""
        return with_forward(model, self.forward(model)) if self._mixed else model


def in_dtype(logits: Tensors, dtype: torch.dtype) -> dict[str, torch.Tensor]:
    return {name: tensor.to(dtype) for name, tensor in logits.items()}


def with_forward(model: Trainable, forward: Forward) -> Trainable:
    """Return `model` with another forward pass. All other attributes are its own."""
    return cast(Trainable, _WithForward(model, forward))


class _WithForward:
    def __init__(self, model: Trainable, forward: Forward) -> None:
        self._model, self._forward = model, forward

    def __call__(self, batch: Batch) -> Tensors:
        return self._forward(batch)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)
