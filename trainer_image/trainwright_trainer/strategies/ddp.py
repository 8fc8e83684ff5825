"""Several processes, each with the whole model: torch's DDP, which sums gradients during the backward pass.

The backend has made the default process group before: with gloo for CPU tensors and, for training on GPUs, with NCCL
for CUDA tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, cast

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from trainwright_trainer.layers.normalisation import share_batch_norm
from trainwright_trainer.strategies.interface import Flags, Forward, PeerLost, T, Unwatched, Watch

# Texts of library errors that mean that another process is gone; torch has exception classes for only some of them.
_LOST = ("gloo", "nccl", "connection closed", "connection reset", "broken pipe", "processgroup")


class Ddp:
    """One of `world` ranks. Each rank has all parameters and makes the same steps."""

    def __init__(self, device: torch.device | str = "cpu") -> None:
        self.device = torch.device(device)
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self._ask: Callable[[], Flags] = tuple
        self._agreed: Flags = ()
        self._pending: tuple[dist.Work, torch.Tensor] | None = None
        self._around: DistributedDataParallel | None = None
        self._watch: Watch = Unwatched()

    def wrap(self, model: Forward) -> Forward:
        module = cast(nn.Module, model)
        share_batch_norm(module, self)
        with raising_peer_lost():
            # The only buffers are those of batch norm, and all ranks compute the same values for them.
            self._around = DistributedDataParallel(module, forward_sync_buffers=False, gradient_as_bucket_view=True)
        return cast(Forward, self._around)

    def begin_pass(self, *, last: bool) -> None:
        assert self._around is not None
        self._around.require_backward_grad_sync = last

    def backward(self, loss: torch.Tensor) -> None:
        """DDP takes the mean of the gradients over ranks. The loss is multiplied by `world`, so the mean is the sum."""
        assert self._around is not None
        whole = loss * self.world
        if self._around.require_backward_grad_sync:
            whole.register_hook(self._watch_end_of_backward)  # type: ignore[no-untyped-call]
        with raising_peer_lost():
            whole.backward()  # type: ignore[no-untyped-call]

    def _watch_end_of_backward(self, _: torch.Tensor) -> None:
        """Queue the watch's callback. It runs at the end of the backward pass, before DDP waits for other ranks."""
        torch.autograd.Variable._execution_engine.queue_callback(self._watch.computed)

    def total(self, loss: torch.Tensor) -> torch.Tensor:
        """On a CPU, one all-reduce sums loss and votes. On a GPU, a second all-reduce on the CPU sums the votes, so
        that no rank waits for the queue of the GPU."""
        if loss.is_cpu:
            both = torch.tensor([float(loss), *map(float, self._ask())], dtype=torch.float64)
            total, *votes = self._sum(both).tolist()
            self._agreed = tuple(vote > 0 for vote in votes)
            return torch.tensor(total, dtype=loss.dtype)
        flags = torch.tensor([float(flag) for flag in self._ask()])
        with raising_peer_lost():
            work = dist.all_reduce(flags, async_op=True)
            assert work is not None
            self._pending = (work, flags)
        return self._sum(loss.clone())

    def whole(self, part: torch.Tensor) -> torch.Tensor:
        own = part.detach()
        return part + (self._sum(own.clone()) - own)

    def vote(self, ask: Callable[[], Flags]) -> None:
        self._ask = ask

    def agreed(self) -> Flags:
        if self._pending is not None:
            work, flags = self._pending
            with raising_peer_lost():
                work.wait()
            self._agreed, self._pending = tuple(flag > 0 for flag in flags.tolist()), None
        return self._agreed

    def watch(self, watch: Watch) -> None:
        self._watch = watch

    def gather(self, own: T) -> Sequence[T]:
        found: list[Any] | None = [None] * self.world if self.rank == 0 else None
        with raising_peer_lost():
            dist.gather_object(own, found)
        return found or []

    def share(self, value: T) -> T:
        box = [value]
        with raising_peer_lost():
            dist.broadcast_object_list(box, src=0)
        return box[0]

    def leave(self) -> None:
        dist.destroy_process_group()

    def stack(self, own: torch.Tensor) -> torch.Tensor:
        """[ranks, …]: the tensors of all ranks, in rank order."""
        found = [torch.empty_like(own) for _ in range(self.world)]
        with self._watch.waiting(), raising_peer_lost():
            dist.all_gather(found, own)
        return torch.stack(found)

    def sum(self, own: torch.Tensor) -> torch.Tensor:
        """The sum over all ranks."""
        return self._sum(own.clone())

    def _sum(self, own: torch.Tensor) -> torch.Tensor:
        with self._watch.waiting(), raising_peer_lost():
            dist.all_reduce(own)
        return own


@contextmanager
def raising_peer_lost() -> Iterator[None]:
    """Convert the libraries' errors about a lost process into `PeerLost`."""
    try:
        yield
    except RuntimeError as error:
        text = str(error).lower()
        if isinstance(error, dist.DistError) or any(word in text for word in _LOST):
            raise PeerLost(str(error).partition("\n")[0]) from error
        raise
