"""FSDP's sums of gradients on a CPU, beside the backward pass.

FSDP lets communication run beside computation by streams, which only a GPU has. On a CPU it waits for each sum. Here a
sum is started, the backward pass goes on, and the sums are awaited after it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy

_MOST_RUNNING = 2
"""Each running sum keeps the whole gradients of a block in memory."""


def can_run_beside_backward(policy: MixedPrecisionPolicy, dtype: torch.dtype, device: torch.device) -> bool:
    """True if FSDP does nothing with a sum in the backward pass: it casts none to `dtype`, that of the parameters.

    A GPU needs no `RunningSums`.
    """
    return device.type == "cpu" and (policy.reduce_dtype or policy.param_dtype or dtype) == dtype


def sum_gradients(block: FSDPModule, sums: RunningSums | None) -> None:
    """Let FSDP take the sum of a block's gradients over ranks instead of their mean. `sums`: those that it joins."""
    block.set_force_sum_reduction_for_comms(True)
    block.set_gradient_divide_factor(1.0)
    if sums is not None:
        # torch does not export the base class that it asks for.
        block.set_custom_reduce_scatter(BlockSum(sums))  # type: ignore[arg-type]


class RunningSums:
    """The sums of one backward pass that have started, the oldest first."""

    def __init__(self) -> None:
        self._works: deque[dist.Work] = deque()
        self._summed: set[BlockSum] = set()

    def add(self, block: BlockSum, work: dist.Work) -> None:
        """Add a sum, and wait until at most two run: for a further one of a block, until none does."""
        self._works.append(work)
        self._wait(0 if block in self._summed else _MOST_RUNNING)
        self._summed.add(block)

    def finish(self) -> None:
        """Wait until all gradients are complete. The next backward pass begins."""
        self._wait(0)
        self._summed.clear()

    def _wait(self, most_running: int) -> None:
        while len(self._works) > most_running:
            self._works.popleft().wait()


class BlockSum:
    """The `ReduceScatter` of torch that sums the gradients of one block and does not wait for the result.

    FSDP must not read the result before `RunningSums.finish`. It reads it at once if it adds it to an earlier one, for
    a block that runs several times in a forward pass. These sums are awaited.
    """

    def __init__(self, running: RunningSums) -> None:
        self._running = running

    def allocate(self, size: Sequence[int], *, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
        return torch.empty(*size, dtype=dtype, device=device)

    def __call__(
        self,
        output_tensor: torch.Tensor,
        input_tensor: torch.Tensor,
        group: dist.ProcessGroup,
        op: dist.ReduceOp.RedOpType,
        async_op: bool = False,  # noqa: ARG002  # FSDP never sets it
    ) -> None:
        work = dist.reduce_scatter_tensor(output_tensor, input_tensor, op, group, async_op=True)
        assert work is not None
        self._running.add(self, work)
