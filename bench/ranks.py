"""Run a measurement on several ranks of this machine, with gloo and one thread each."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from trainwright_trainer.runtime.allocator import keep_memory_between_steps


def on_ranks(world: int, measure: Callable[..., str], *arguments: Any) -> str:
    """The text that `measure(*arguments)` returns on rank 0. The function is at module level."""
    with tempfile.TemporaryDirectory(prefix="trainwright-bench-") as folder:
        mp.spawn(_rank, args=(world, folder, measure, arguments), nprocs=world)  # type: ignore[attr-defined, no-untyped-call]
        return Path(folder, "found").read_text()


def _rank(rank: int, world: int, folder: str, measure: Callable[..., str], arguments: tuple[Any, ...]) -> None:
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    keep_memory_between_steps()
    torch.set_num_threads(1)
    dist.init_process_group("gloo", f"file://{folder}/store", world_size=world, rank=rank)
    found = measure(*arguments)
    if rank == 0:
        Path(folder, "found").write_text(found)
    dist.barrier()
    dist.destroy_process_group()
