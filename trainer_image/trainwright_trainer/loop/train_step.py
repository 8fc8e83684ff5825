"""One optimizer step: passes, gradients, and the update of the engine, which clips (`strategies/torch_engine.py`)."""

from __future__ import annotations

import math
from typing import cast

import torch
from torch import nn

from trainwright_trainer.data.order import Purpose, key
from trainwright_trainer.distributed.ranks import sum_with_own_gradient
from trainwright_trainer.layers.ghost_norm import GhostNorms
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.loader.cut import Cut
from trainwright_trainer.loop.protocols import Metrics
from trainwright_trainer.loop.step_agreement import StepAgreement, StepLoss
from trainwright_trainer.models.trainable import Tensors
from trainwright_trainer.strategies.interface import Engine


class TrainStep:
    """`step(batch, rows, rate)` updates the weights once and returns the loss of the global batch.

    The loss of a step is the sum over rows divided by the number of rows of the global batch, so it does not depend on
    how the batch is cut into slices and passes. A loss of tokens is divided by the number of tokens of the global
    batch, which the ranks add up before the forward pass. The penalty on the weights is added once.
    """

    def __init__(
        self,
        engine: Engine,
        agreement: StepAgreement,
        metrics: Metrics | None,
        cut: Cut,
        *,
        has_root_loss: bool = False,
    ) -> None:
        """`has_root_loss`: True if some loss is the root of a mean, which is defined for the whole batch only."""
        self._engine, self._model, self._ranks = engine, engine.model, engine.ranks
        self._agreement = agreement
        self._metrics = metrics
        self._cut = cut
        self._rows = 0
        self._ghost_norms = GhostNorms(cast(nn.Module, engine.model))
        self._sums_losses_first = has_root_loss and engine.ranks.world > 1

    def __call__(self, batch: Batch, rows: int, rate: float) -> StepLoss:
        """`batch` is this process's slice of a global batch of `rows` rows. The returned loss may be NaN.

        On a CPU a loss that is not finite leaves the weights unchanged. On a GPU that check would have to wait.
        """
        if rows != self._rows:  # the last batch of an epoch may be smaller
            self._rows, self._unit, self._passes = rows, self._cut.unit(rows), self._cut.passes(rows)
        self._ghost_norms.begin(self._unit)
        self._compute_gradients(batch, rows, self._passes)
        loss = self._agreement.total()
        if isinstance(loss, float) and not math.isfinite(loss):
            self._engine.discard()
            return loss
        if self._ghost_norms:
            self._ghost_norms.learn(self._agreement.others())
        self._engine.update(rate)
        return loss

    def _compute_gradients(self, batch: Batch, rows: int, passes: list[slice]) -> None:
        done: list[torch.Tensor] = []
        counts = self._counts(batch)
        for at, where in enumerate(passes):
            first, last = at == 0, at == len(passes) - 1
            part = batch if len(passes) == 1 else batch.part(where)
            logits = self._engine.forward(part, last=last)
            losses = self._model.losses(logits, part)
            loss = self._loss(losses, rows, counts, first=first)
            done.append(loss.detach())
            if last:
                whole = done[0] if len(done) == 1 else torch.stack(done).sum()
                self._agreement.start(whole, self._ghost_norms.sums())
            self._engine.accumulate(loss)
            if self._metrics is not None:
                self._metrics.update(logits, losses, part)

    def _counts(self, batch: Batch) -> dict[str, torch.Tensor]:
        """The tokens of the global batch, for each loss of tokens: float64 scalars on the device."""
        own = self._model.tokens(batch)
        if not own:
            return {}
        found = torch.tensor(list(own.values()), dtype=torch.float64, device=self._ranks.device)
        whole = found if self._ranks.world == 1 else self._ranks.sum(found)
        return dict(zip(own, whole.clamp(min=1), strict=True))

    def _loss(self, losses: Tensors, rows: int, counts: Tensors, *, first: bool) -> torch.Tensor:
        """The part of a pass in the loss of the global batch."""
        means = {name: _mean(of_rows.sum(), counts.get(name), rows) for name, of_rows in losses.items()}
        loss = self._global_loss(means) if self._sums_losses_first else self._model.total(means)
        penalty = self._engine.penalty() if first else None
        return loss if penalty is None else loss + penalty

    def _global_loss(self, means: Tensors) -> torch.Tensor:
        """The total over all ranks' rows, divided by the number of ranks; its gradient is that of this rank's rows."""
        total = self._model.total({name: sum_with_own_gradient(self._ranks, mean) for name, mean in means.items()})
        value = total.detach()
        return total + (value / self._ranks.world - value)


def _mean(total: torch.Tensor, tokens: torch.Tensor | None, rows: int) -> torch.Tensor:
    return total / rows if tokens is None else total / tokens.to(total.dtype)


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
