"""The sums of gradients that run beside FSDP's backward pass. Its training is tested in tests/laws."""

from __future__ import annotations

from typing import Any, cast
from unittest.mock import patch

import pytest
import torch
import torch.distributed as dist
from tests.ranks import on_ranks
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor

from trainwright_trainer.strategies.fsdp_sums import BlockSum, RunningSums, can_run_beside_backward, sum_gradients


class Work:
    """A collective that records its end."""

    def __init__(self, name: int, log: list[str]) -> None:
        self._name, self._log = name, log
        log.append(f"{name} starts")

    def wait(self) -> None:
        self._log.append(f"{self._name} ends")


def logged(blocks: list[int]) -> list[str]:
    """The starts and ends of the sums of these blocks, in this order, and the end of the backward pass."""
    log: list[str] = []
    sums = RunningSums()
    of_block = {block: BlockSum(sums) for block in sorted(set(blocks))}

    def started(*_: Any, async_op: bool) -> Work:
        assert async_op
        return Work(sum(" starts" in line for line in log), log)

    with patch.object(dist, "reduce_scatter_tensor", started):
        for _ in range(2):
            log.clear()
            for block in blocks:
                of_block[block](torch.zeros(1), torch.zeros(2), cast(Any, None), dist.ReduceOp.SUM)
            log.append("backward ends")
            sums.finish()
    return log


def test_a_sum_runs_while_the_next_ones_start_and_two_run_at_most() -> None:
    assert logged([0, 1]) == ["0 starts", "1 starts", "backward ends", "0 ends", "1 ends"]
    three = ["0 starts", "1 starts", "2 starts", "0 ends", "backward ends", "1 ends", "2 ends"]
    assert logged([0, 1, 2]) == three


def test_each_further_sum_of_a_block_is_awaited() -> None:
    two = ["0 starts", "1 starts"]
    third = ["2 starts", "0 ends", "1 ends", "2 ends"]
    assert logged([0, 1, 0]) == [*two, *third, "backward ends"]
    assert logged([0, 1, 0, 1]) == [*two, *third, "3 starts", "3 ends", "backward ends"]


class Network(nn.Module):
    """Three layers. The first two run twice in a pass."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(5, 5, dtype=torch.float64) for _ in range(3))

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        first, second, third = self.layers
        for _ in range(2):
            rows = torch.tanh(second(torch.tanh(first(rows))))
        found: torch.Tensor = third(rows)
        return found


def gradients(of_rank: bool, repeats: int) -> dict[str, torch.Tensor]:
    """The gradients of the sum over the rows of all ranks, after some passes: by FSDP with `of_rank`, else by hand."""
    torch.manual_seed(1)
    network, rows = Network(), torch.randn(4, 5, dtype=torch.float64)
    sums = RunningSums()
    if of_rank:
        rank, world = dist.get_rank(), dist.get_world_size()
        mesh = init_device_mesh("cpu", (world,))
        for module in (*network.layers, network):
            sum_gradients(cast(FSDPModule, fully_shard(module, mesh=mesh)), sums)
        rows = rows[rank::world]
    for _ in range(repeats):
        network.zero_grad()
        network(rows).square().sum().backward()
        sums.finish()
    return {name: whole(cast(torch.Tensor, one.grad)) for name, one in network.named_parameters()}


def whole(gradient: torch.Tensor) -> torch.Tensor:
    return gradient.full_tensor() if isinstance(gradient, DTensor) else gradient


def of_ranks() -> dict[str, torch.Tensor]:
    return gradients(of_rank=True, repeats=3)


def test_the_gradients_are_those_of_one_process_also_of_blocks_that_run_twice() -> None:
    expected = gradients(of_rank=False, repeats=1)
    for found in on_ranks(3, of_ranks):
        for name, gradient in expected.items():
            torch.testing.assert_close(found[name], gradient, rtol=0, atol=1e-12)


HALF, FLOAT, DOUBLE = torch.bfloat16, torch.float32, torch.float64


@pytest.mark.parametrize(
    ("policy", "dtype", "device", "can"),
    [
        (MixedPrecisionPolicy(), DOUBLE, "cpu", True),
        (MixedPrecisionPolicy(reduce_dtype=FLOAT), FLOAT, "cpu", True),
        (MixedPrecisionPolicy(param_dtype=HALF, reduce_dtype=FLOAT), FLOAT, "cpu", True),
        (MixedPrecisionPolicy(param_dtype=HALF), FLOAT, "cpu", False),
        (MixedPrecisionPolicy(reduce_dtype=HALF), FLOAT, "cpu", False),
        (MixedPrecisionPolicy(), FLOAT, "cuda", False),
    ],
)
def test_a_sum_that_is_cast_is_awaited(
    policy: MixedPrecisionPolicy, dtype: torch.dtype, device: str, can: bool
) -> None:
    assert can_run_beside_backward(policy, dtype, torch.device(device)) is can
