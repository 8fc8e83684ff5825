"""Several processes, each with the whole model: torch's DDP, which sums gradients during the backward pass."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import cast

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from trainwright_trainer.distributed.process_group import raising_peer_lost
from trainwright_trainer.layers.batch_norm import share_batch_norm
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.models.trainable import Tensors
from trainwright_trainer.strategies.precision import Forward
from trainwright_trainer.strategies.torch_engine import TorchEngine

MOST_NUMBERS = 16
"""The most numbers that travel with the gradients. Only the sums of ghost norms are more."""


class Ddp(TorchEngine):
    """Each rank has all parameters and makes the same updates."""

    def _wrapped(self, model: Forward) -> Forward:
        share_batch_norm(cast(nn.Module, self.model), self.ranks)
        both = _WithCarrier(cast(nn.Module, model), next(iter(self._trained().values())))
        self._carrier = both.carrier
        self._carried = torch.zeros_like(both.carrier)  # the carrier's gradient at the start of the backward pass
        self._world = torch.tensor(float(self.ranks.world), device=self.ranks.device)
        # Convolutions of one pixel: torch copies such a gradient, and nothing else happens.
        warnings.filterwarnings("ignore", message="Grad strides do not match bucket view strides")
        with raising_peer_lost():
            # The only buffers are those of batch norm, and all ranks compute the same values for them.
            self._around = DistributedDataParallel(both, forward_sync_buffers=False, gradient_as_bucket_view=True)
        return cast(Forward, self._around)

    def warm_up(self, batch: Batch) -> None:
        """Run two passes. In the first, DDP rearranges its buffers, which would otherwise change the last bits of a
        result."""
        self.model.eval()
        for _ in range(2):
            losses = self.model.losses(self.forward(batch, last=True), batch)
            self._backward(0 * self.model.total({name: of_rows.sum() for name, of_rows in losses.items()}))
            self.discard()
        self.model.train()

    def forward(self, batch: Batch, *, last: bool) -> Tensors:
        if self._around.require_backward_grad_sync != last:  # to set an attribute of a module takes 10 µs
            self._around.require_backward_grad_sync = last
        return super().forward(batch, last=last)

    def start_sum(self, own: torch.Tensor) -> Callable[[], torch.Tensor]:
        """A few numbers travel with the gradients, because a collective of their own takes as long as a small step."""
        count = own.numel()
        if count > MOST_NUMBERS:
            return super().start_sum(own)
        torch.mul(own, self.ranks.world, out=self._carried[:count])

        def sums() -> torch.Tensor:
            found = self._carrier.grad
            assert found is not None
            return found[:count].to(own.dtype, copy=True)

        return sums

    def discard(self) -> None:
        super().discard()
        self._carrier.grad = None

    def _backward(self, loss: torch.Tensor) -> None:
        """DDP takes the mean of the gradients over ranks. They begin with `world`, so the mean is the sum."""
        roots, gradients = [loss], [self._world.to(loss.dtype)]
        hook = None
        if self._last_pass:
            roots.append(self._carrier)
            gradients.append(self._carried)
            if self.ranks.watch.measuring:  # a call of Python in each backward pass costs more than 1 % of a small step
                hook = self._carrier.register_hook(self._watch_end_of_backward)  # type: ignore[no-untyped-call]
        with raising_peer_lost():
            torch.autograd.backward(roots, gradients)
        if hook is not None:
            hook.remove()

    def _watch_end_of_backward(self, _: torch.Tensor) -> None:
        """Queue the watch's callback. It runs at the end of the backward pass, before DDP waits for other ranks."""
        torch.autograd.Variable._execution_engine.queue_callback(self.ranks.watch.computed)


class _WithCarrier(nn.Module):
    """A model with a parameter beside it, whose gradient is the numbers that the ranks add up.

    The optimizer and the checkpoints do not know the parameter.
    """

    def __init__(self, model: nn.Module, like: torch.Tensor) -> None:
        super().__init__()
        self.model = model
        self.carrier = nn.Parameter(torch.zeros(MOST_NUMBERS, dtype=like.dtype, device=like.device))

    def forward(self, batch: Batch) -> Tensors:
        found: Tensors = self.model(batch)
        return found
