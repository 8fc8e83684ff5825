"""Horovod's sums of tensors on this machine's GPU. `make test-gpu` runs these tests; elsewhere they are skipped."""

from __future__ import annotations

import horovod.torch as hvd
import pytest
import torch
from tests.ranks import on_ranks

from trainwright_trainer.distributed.process_group import ProcessGroup
from trainwright_trainer.strategies.horovod import connect

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


def sums_behind_a_long_kernel() -> list[list[float]]:
    ranks, found = ProcessGroup(torch.device("cuda:0")), []
    connect(ranks)
    for name in ("one", "other"):  # the second finds memory for its copy at once
        own = torch.zeros(1 << 20, device="cuda:0")
        torch.cuda._sleep(500_000_000)  # type: ignore[no-untyped-call]
        own += ranks.rank + 1
        [total] = hvd.grouped_allreduce([own], op=hvd.Sum, name=name)
        found.append(total.unique().tolist())
    hvd.shutdown()
    return found


def test_a_sum_waits_for_the_kernels_before_it() -> None:
    """Horovod sums on the CPU, so each gradient is copied there first."""
    assert on_ranks(2, sums_behind_a_long_kernel, cuda="gloo") == [[[3.0], [3.0]]] * 2
