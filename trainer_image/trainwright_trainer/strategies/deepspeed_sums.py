"""ZeRO's sums of gradients on a CPU, beside the backward pass.

ZeRO lets communication run beside computation by streams, which only a GPU has. On a CPU the hook of a gradient waits
for its sum. Here a thread does the work of the hooks, in their order, and is awaited after the backward pass.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import torch
import torch.distributed as dist

from trainwright_trainer.distributed.ranks import Ranks

_MOST_WAITING = 2
"""Buckets of gradients. Each gradient that waits for the thread is whole in memory."""


def can_run_beside_backward(engine: Any, ranks: Ranks) -> bool:
    """True if the sums of DeepSpeed's `engine` should overlap with the backward pass, and no stream does so."""
    on_cpus = ranks.device.type == "cpu" and ranks.world > 1
    return on_cpus and engine.zero_optimization() and engine.zero_overlap_comm()


class RunningSums:
    """The gradients of one backward pass that wait for the thread, the oldest first."""

    def __init__(self, engine: Any) -> None:
        zero = engine.optimizer
        self._thread = ThreadPoolExecutor(1, "zero-sums")
        self._waiting: deque[tuple[int, Future[None]]] = deque()
        self._elements, self._most = 0, _MOST_WAITING * zero.reduce_bucket_size
        self._reduce = torch.no_grad()(zero.reduce_ready_partitions_and_remove_grads)
        self._finish_pass = engine._backward_epilogue
        zero.reduce_ready_partitions_and_remove_grads, engine._backward_epilogue = self._add, self._finish
        if engine.zero_optimization_stage() == 3:
            # It also gathers parameters in the backward pass. In one group, the ranks would mix both in random orders.
            group = dist.new_group()
            zero._get_param_partition_group = lambda _: group

    def _add(self, parameter: torch.nn.Parameter, *number: int) -> None:
        """In place of the hook's work on the gradient of a parameter. `number`: its group's, in stages 1 and 2."""
        size = int(getattr(parameter, "ds_numel", parameter.numel()))
        self._wait(self._most - size)
        self._elements += size
        self._waiting.append((size, self._thread.submit(self._reduce, parameter, *number)))

    def _wait(self, most: int) -> None:
        """Wait until at most `most` elements wait. Raises what the thread raised."""
        while self._waiting and self._elements > most:
            size, summed = self._waiting.popleft()
            self._elements -= size
            summed.result()

    def _finish(self) -> None:
        self._wait(0)
        self._finish_pass()

    def close(self) -> None:
        self._thread.shutdown()
