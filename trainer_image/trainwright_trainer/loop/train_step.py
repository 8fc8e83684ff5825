"""One optimizer step: passes, gradients, clipping, update. This is the hot path, so `__init__` prepares all it can."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import torch
from torch import nn
from torch.optim import Optimizer

from trainwright_api.config.trainer import TrainerConfig
from trainwright_trainer.data.order import Purpose, key
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.loop.precision import Precision
from trainwright_trainer.loop.protocols import Metrics, Tensors, Trainable
from trainwright_trainer.optim.clipping import clip
from trainwright_trainer.strategies.interface import Strategy


class TrainStep:
    """`step(batch, rows, rate)` updates the weights once and returns the loss of the global batch.

    The loss of a step is the sum over rows divided by the number of rows of the global batch, so it does not depend on
    how the batch is cut into slices and passes. The penalty on the weights is added once.
    """

    def __init__(
        self,
        model: Trainable,
        optimizer: Optimizer,
        strategy: Strategy,
        precision: Precision,
        trainer: TrainerConfig,
        metrics: Metrics | None,
        pass_rows: int,
        *,
        has_root_loss: bool = False,
    ) -> None:
        """`has_root_loss`: True if some loss is the root of a mean, which is defined for the whole batch only."""
        self._model, self._optimizer, self._strategy = model, optimizer, strategy
        self._scaler = precision.scaler
        self._forward = precision.forward(forward_of(model, strategy, trainer))
        self._clipping = trainer.gradient_clipping
        self._penalty, self._factor = trainer.regularization_type, trainer.regularization_lambda
        self._metrics = metrics
        self._pass_rows = pass_rows
        self._sums_losses_first = has_root_loss and strategy.world > 1
        self._parameters: list[nn.Parameter] = [one for group in optimizer.param_groups for one in group["params"]]

    def __call__(self, batch: Batch, rows: int, rate: float) -> torch.Tensor:
        """`batch` is this process's slice of a global batch of `rows` rows. The returned loss is detached, maybe NaN.

        On a CPU a loss that is not finite leaves the weights unchanged. On a GPU that check would have to wait.
        """
        passes = math.ceil(math.ceil(rows / self._strategy.world) / self._pass_rows)
        loss = self._strategy.total(self._gradients(batch, rows, passes))
        if loss.is_cpu and not math.isfinite(float(loss)):
            return loss
        self._update(rate)
        return loss

    def rehearse(self, batch: Batch) -> None:
        """Run two steps that change no weights. In the first, DDP rearranges its buffers, which would otherwise change
        the last bits of a result."""
        self._model.eval()
        for _ in range(2):
            self._strategy.begin_pass(last=True)
            losses = self._model.losses(self._forward(batch), batch)
            self._strategy.backward(0 * self._model.total({name: of_rows.sum() for name, of_rows in losses.items()}))
            self._clear()
        self._model.train()

    def _gradients(self, batch: Batch, rows: int, passes: int) -> torch.Tensor:
        self._clear()
        if passes == 1:
            return self._pass(batch, rows, first=True, last=True)
        parts = self._parts(batch, passes)
        losses = [self._pass(part, rows, first=at == 0, last=at == passes - 1) for at, part in enumerate(parts)]
        return torch.stack(losses).sum()

    def _clear(self) -> None:
        for parameter in self._parameters:
            parameter.grad = None

    def _parts(self, batch: Batch, passes: int) -> Iterator[Batch]:
        for at in range(passes):
            yield batch.part(slice(at * self._pass_rows, (at + 1) * self._pass_rows))

    def _pass(self, batch: Batch, rows: int, *, first: bool, last: bool) -> torch.Tensor:
        self._strategy.begin_pass(last=last)
        logits: Tensors = self._forward(batch)
        losses = self._model.losses(logits, batch)
        means = {name: of_rows.sum() / rows for name, of_rows in losses.items()}
        loss = self._model.total(means) if not self._sums_losses_first else self._global_loss(means)
        if first and self._factor and self._penalty is not None:
            loss = loss + self._model.regularization(self._penalty, self._factor) / self._strategy.world
        self._strategy.backward(loss if self._scaler is None else self._scaler.scale(loss))
        if self._metrics is not None:
            self._metrics.update(logits, losses, batch)
        return loss.detach()

    def _global_loss(self, means: Tensors) -> torch.Tensor:
        """The total over all ranks' rows, divided by the number of ranks; its gradient is that of this rank's rows."""
        total = self._model.total({name: self._strategy.whole(mean) for name, mean in means.items()})
        value = total.detach()
        return total + (value / self._strategy.world - value)

    def _update(self, rate: float) -> None:
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        if self._scaler is not None:
            self._scaler.unscale_(self._optimizer)
        clip([one.grad for one in self._parameters if one.grad is not None], self._clipping)
        if self._scaler is None:
            self._optimizer.step()
        else:
            self._scaler.step(self._optimizer)
            self._scaler.update()


def forward_of(model: Trainable, strategy: Strategy, trainer: TrainerConfig) -> Callable[[Batch], Tensors]:
    """The function that computes logits in training: the model wrapped by the strategy, compiled if configured."""
    wrapped = strategy.wrap(model)
    return torch.compile(wrapped) if trainer.compile else wrapped


class StepSeeds:
    """Seeds torch's generator of the device, so that dropout depends on (seed, rank, step) alone, not on earlier draws.

    Seeding the generator directly takes 2 µs, `torch.manual_seed` 300.
    """

    def __init__(self, seed: int, rank: int, device: torch.device) -> None:
        self._seed, self._rank = seed, rank
        self._generator = _generator(device)

    def set(self, step: int) -> None:
        """Seed the generator for the next optimizer step; `step` is the number of finished steps."""
        self._generator.manual_seed(key(self._seed, Purpose.DROPOUT, self._rank, step))


def _generator(device: torch.device) -> torch.Generator:
    if device.type == "cpu":
        return torch.default_generator
    index = torch.cuda.current_device() if device.index is None else device.index
    return torch.cuda.default_generators[index]
