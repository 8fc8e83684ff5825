"""The collectives between ranks, on gloo. tests/laws/test_any_number_of_workers.py tests the results of training."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from tests.ranks import on_ranks

from trainwright_trainer.distributed.blocks import joined
from trainwright_trainer.distributed.process_group import ProcessGroup, raising_peer_lost
from trainwright_trainer.distributed.ranks import PeerLost, sum_with_own_gradient
from trainwright_trainer.layers.batch_norm import BatchNorm
from trainwright_trainer.loop.step_agreement import StepAgreement
from trainwright_trainer.rundir.blocks import Block, own_part


def exchanged() -> dict[str, object]:
    ranks = ProcessGroup()
    rank = ranks.rank
    agreement = StepAgreement(ranks, lambda: (rank == 1, False))
    agreement.start(torch.tensor(float(rank + 1)), [torch.tensor([1.0])])
    total = agreement.total()
    finish = ranks.start_sum(torch.tensor(float(rank)))
    part = torch.tensor(float(rank + 1), requires_grad=True)
    whole = sum_with_own_gradient(ranks, part)
    (whole * whole).backward()
    return {
        "rank": (ranks.rank, ranks.world),
        "total": (total, agreement.others().tolist()),
        "agreed": agreement.agreed(),
        "whole": (float(whole), float(part.grad)),
        "later": float(finish()),
        "stacked": ranks.stack(torch.tensor([rank])).flatten().tolist(),
        "gathered": [one["a"].tolist() for one in ranks.gather({"a": torch.arange(rank)})],
        "shared": ranks.share({"word": rank} if rank == 0 else None),
        "beside": ranks.beside().gather(rank),
        "joined": joined(own_part(Block(torch.arange(7), (7,)), rank, 3), ranks).tolist(),
        "one has all": joined(Block(torch.arange(6 if rank == 1 else 0), (2, 3), 0), ranks).tolist(),
    }


def test_what_ranks_exchange():
    first, *others = on_ranks(3, exchanged)
    for rank, one in enumerate([first, *others]):
        assert one["rank"] == (rank, 3)
        assert one["total"] == (6.0, [3.0])
        assert one["agreed"] == (True, False)
        assert one["whole"] == (6.0, 12.0), "the gradient is of the whole, by the own part"
        assert one["later"] == 3.0
        assert one["stacked"] == [0, 1, 2]
        assert one["shared"] == {"word": 0}
        assert one["joined"] == [0, 1, 2, 3, 4, 5, 6]
        assert one["one has all"] == [[0, 1, 2], [3, 4, 5]]
    assert first["beside"] == [0, 1, 2]
    assert first["gathered"] == [[], [0], [0, 1]]
    assert [one["gathered"] for one in others] == [[], []]


def lost() -> str:
    ranks = ProcessGroup()
    ranks.sum(torch.tensor(1.0))
    if ranks.rank == 1:
        ranks.abort()
        return "gone"
    try:
        ranks.sum(torch.tensor(1.0))
    except PeerLost:
        return "alone"
    return "in company"


def test_a_rank_that_gives_up_is_missed_at_once():
    assert on_ranks(2, lost) == ["alone", "gone"]


def norm_of_slices() -> tuple[list[float], list[float], list[float]]:
    """Outputs, gradients of the input and running variance of a batch norm over unequal slices, one of them empty."""
    ranks = ProcessGroup()
    rows = torch.arange(10, dtype=torch.float64).pow(2).reshape(5, 2)
    low, high = [(0, 3), (3, 3), (3, 5)][ranks.rank]
    norm = BatchNorm(2).double()
    norm.ranks = ranks
    x = rows[low:high].clone().requires_grad_()
    out = norm(x)
    out.pow(3).sum().backward()
    return out.flatten().tolist(), x.grad.flatten().tolist(), norm.running_var.tolist()


def test_batch_norm_sees_the_rows_of_all_ranks():
    rows = torch.arange(10, dtype=torch.float64).pow(2).reshape(5, 2).requires_grad_()
    norm = BatchNorm(2).double()
    out = norm(rows)
    out.pow(3).sum().backward()
    found = on_ranks(3, norm_of_slices)
    for at, expected in enumerate((out, rows.grad)):
        together = [value for one in found for value in one[at]]
        assert together == pytest.approx(expected.flatten().tolist(), abs=1e-12)
    for one in found:
        assert one[2] == pytest.approx(norm.running_var.tolist(), abs=1e-12)


def test_only_the_loss_of_a_peer_is_one():
    with pytest.raises(PeerLost, match="Connection closed"), raising_peer_lost():
        raise RuntimeError("[gloo/transport/tcp/pair.cc:547] Connection closed by peer [127.0.0.1]:5555\nand more")
    with pytest.raises(RuntimeError, match="shapes"), raising_peer_lost():
        raise RuntimeError("shapes cannot be multiplied")


NCCL = """NCCL error in: NCCLUtils.cpp:94, unhandled system error (run with NCCL_DEBUG=INFO), NCCL version 2.27.5
ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.
Last error:
Error while creating shared memory segment /dev/shm/nccl-x (size 9637888), error: No space left on device (28)
more"""


def test_a_fault_of_nccl_keeps_its_cause():
    with pytest.raises(PeerLost) as found, raising_peer_lost():
        raise dist.DistBackendError(NCCL)
    lines = NCCL.splitlines()
    assert str(found.value) == f"{lines[0]} {lines[3]}"
