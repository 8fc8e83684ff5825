"""The common part of engines with whole parameters and one optimizer of torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import torch
from torch import nn

from trainwright_api.config.trainer import TrainerConfig
from trainwright_trainer.distributed.ranks import Ranks
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.models.penalty import kind_of
from trainwright_trainer.models.trainable import Tensors, Trainable, allocate
from trainwright_trainer.optim.clipping import clip, norms_of
from trainwright_trainer.optim.optimizers import make_optimizer
from trainwright_trainer.rundir.blocks import Block, TensorSpec, whole
from trainwright_trainer.strategies.interface import EngineState
from trainwright_trainer.strategies.optimizer_state import allocate_optimizer, optimizer_tensors, optimizer_values
from trainwright_trainer.strategies.precision import Forward, Precision


class TorchEngine:
    """An engine whose subclasses define how gradients are summed.

    The order is: initial values, compile, wrap, optimizer. Parameters are frozen before.
    """

    def __init__(self, model: Trainable, trainer: TrainerConfig, learning_rate: float, ranks: Ranks) -> None:
        self.model, self.ranks = model, ranks
        self._materialise()
        precision = Precision(trainer, ranks.device)
        self._scaler = precision.scaler
        compiled = self._compiled() if trainer.compile else model
        self._forward = precision.forward(self._wrapped(compiled))
        self.model = precision.evaluated(self.model)
        self._parameters = self._trained()
        self._optimizer = make_optimizer(trainer.optimizer, self._parameters.values(), learning_rate)
        self._clipping = trainer.gradient_clipping
        self._factor = trainer.regularization_lambda
        self._penalty = kind_of(trainer, self._parameters)
        self._last_pass = True

    def _materialise(self) -> None:
        """Give the parameters their memory and their initial values on the device of this rank."""
        allocate(self.model, self.ranks.device)

    def _compiled(self) -> Forward:
        return cast(Forward, torch.compile(self.model))

    def _wrapped(self, model: Forward) -> Forward:
        """The function that computes logits in training."""
        return model

    def _trained(self) -> dict[str, nn.Parameter]:
        """The parameters of the optimizer, by name."""
        return {name: one for name, one in self.model.named_parameters() if one.requires_grad}

    def warm_up(self, batch: Batch) -> None: ...

    def forward(self, batch: Batch, *, last: bool) -> Tensors:
        self._last_pass = last
        return self._forward(batch)

    def penalty(self) -> torch.Tensor | None:
        if self._penalty is None:
            return None
        return self.model.regularization(self._penalty, self._factor) / self.ranks.world

    def start_sum(self, own: torch.Tensor) -> Callable[[], torch.Tensor]:
        return self.ranks.start_sum(own)

    def accumulate(self, loss: torch.Tensor) -> None:
        self._backward(loss if self._scaler is None else self._scaler.scale(loss))

    def _backward(self, loss: torch.Tensor) -> None:
        loss.backward()  # type: ignore[no-untyped-call]
        if self._last_pass:
            self.ranks.watch.computed()

    def update(self, rate: float) -> None:
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        if self._scaler is not None:
            self._scaler.unscale_(self._optimizer)
        self._add_penalty()
        clip(self._gradients(), self._clipping, self._norms)
        if self._scaler is None:
            self._optimizer.step()
        else:
            self._scaler.step(self._optimizer)
            self._scaler.update()
        self.discard()

    def _add_penalty(self) -> None:
        """Add the gradients of the penalty, unless the backward pass of the loss computes them."""

    def _norms(self, gradients: list[torch.Tensor]) -> torch.Tensor:
        """[gradients]: the norm of each whole gradient, for clipping."""
        return norms_of(gradients)

    def _gradients(self) -> list[torch.Tensor]:
        return [one.grad for one in self._parameters.values() if one.grad is not None]

    def discard(self) -> None:
        for parameter in self._parameters.values():
            parameter.grad = None

    def weights(self) -> dict[str, Block]:
        return whole({name: one.detach() for name, one in self.model.state_dict().items()})

    def state(self) -> EngineState:
        scaler = self._scaler.state_dict() if self._scaler is not None else None
        values = {"optimizer": optimizer_values(self._optimizer, self._parameters), "scaler": scaler}
        return EngineState(whole(optimizer_tensors(self._optimizer, self._parameters)), values)

    def allocate(self, specs: Mapping[str, TensorSpec], values: Mapping[str, Any]) -> None:
        allocate_optimizer(self._optimizer, self._parameters, specs, values["optimizer"])
        if self._scaler is not None and values["scaler"]:
            self._scaler.load_state_dict(values["scaler"])

    def refresh(self) -> None: ...

    def consolidate(self) -> bool:
        return True

    def finish(self) -> None: ...
