"""The collectives of torch.distributed, on the default process group or on another of all ranks.

The backend has initialised the group: with gloo for CPU tensors and, for training on GPUs, with NCCL for CUDA tensors.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import HashStore
from torch.distributed.distributed_c10d import _abort_process_group

from trainwright_trainer.distributed.ranks import PeerLost, T, Unwatched, Watch

# Texts of library errors that mean that another process is gone; torch has exception classes for only some of them.
_LOST = ("gloo", "nccl", "connection closed", "connection reset", "broken pipe", "processgroup")


# A rank may wait while another one reads the data, and its background thread for the upload of a large checkpoint. A
# lost process ends the wait.
_LONG_TIMEOUT = timedelta(hours=6)


def collectives_for(device: torch.device | str) -> str:
    """The backend of a process group: gloo for tensors on the CPU, and NCCL for those on GPUs."""
    return "gloo" if torch.device(device).type == "cpu" else "cpu:gloo,cuda:nccl"


def join_group_of_one(device: torch.device) -> None:
    """Initialise the process group of a process that trains alone, for a library that needs one.

    It stays until the process ends, because the library keeps it.
    """
    dist.init_process_group(collectives_for(device), store=HashStore(), rank=0, world_size=1)
    atexit.register(_leave_at_exit)  # NCCL warns otherwise


def _leave_at_exit() -> None:
    if dist.is_initialized():
        dist.destroy_process_group()


class ProcessGroup:
    """One of several ranks. See `Ranks`."""

    def __init__(self, device: torch.device | str = "cpu", group: dist.ProcessGroup | None = None) -> None:
        """`group`: None for the default one."""
        self.device = torch.device(device)
        self._group = group
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.watch: Watch = Unwatched()
        self._before_leave: list[Callable[[], None]] = []

    def sum(self, own: torch.Tensor) -> torch.Tensor:
        found = own.clone()
        with self.watch.waiting(), raising_peer_lost():
            dist.all_reduce(found, group=self._group)
        return found

    def start_sum(self, own: torch.Tensor) -> Callable[[], torch.Tensor]:
        with raising_peer_lost():
            work = dist.all_reduce(own, group=self._group, async_op=True)
        assert work is not None

        def finish() -> torch.Tensor:
            with raising_peer_lost():
                work.wait()
            return own

        return finish

    def stack(self, own: torch.Tensor) -> torch.Tensor:
        found = [torch.empty_like(own) for _ in range(self.world)]
        with self.watch.waiting(), raising_peer_lost():
            dist.all_gather(found, own, group=self._group)
        return torch.stack(found)

    def gather(self, own: T) -> Sequence[T]:
        found: list[Any] | None = [None] * self.world if self.rank == 0 else None
        with raising_peer_lost():
            dist.gather_object(own, found, group=self._group)
        return found or []

    def share(self, value: T) -> T:
        box = [value]
        with raising_peer_lost():
            dist.broadcast_object_list(box, src=0, group=self._group)
        return box[0]

    def beside(self) -> ProcessGroup:
        with raising_peer_lost():
            group = dist.new_group(timeout=_LONG_TIMEOUT, backend="gloo")
        assert isinstance(group, dist.ProcessGroup)  # every rank is a member
        return ProcessGroup("cpu", group)

    def before_leave(self, callback: Callable[[], None]) -> None:
        self._before_leave.append(callback)

    def leave(self) -> None:
        for callback in self._before_leave:
            callback()
        dist.destroy_process_group()

    def abort(self) -> None:
        for callback in self._before_leave:
            callback()
        _abort_process_group()  # to destroy a group of NCCL, all ranks are needed


class _RaisingPeerLost:
    """A class, because every step enters this context: the one of a generator takes 10 µs between large operations."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if not isinstance(error, RuntimeError):
            return
        text = str(error).lower()
        if isinstance(error, dist.DistError) or any(word in text for word in _LOST):
            raise PeerLost(_line_of(str(error))) from error


def _line_of(text: str) -> str:
    """The first line of an error, and the one with which NCCL names its cause."""
    first, _, rest = text.partition("\n")
    cause = rest.partition("Last error:")[2].strip().partition("\n")[0]
    return f"{first} {cause}" if cause else first


def raising_peer_lost() -> AbstractContextManager[None]:
    """A context that converts the libraries' errors about a lost process into `PeerLost`."""
    return _RaisingPeerLost()
