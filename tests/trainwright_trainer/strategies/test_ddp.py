"""The collectives between ranks, on gloo. tests/laws/test_any_number_of_workers.py tests that the results are equal for
any number of ranks."""

from __future__ import annotations

import pytest
import torch
from tests.ranks import on_ranks

from trainwright_trainer.layers.normalisation import BatchNorm
from trainwright_trainer.strategies import strategy_for
from trainwright_trainer.strategies.ddp import Ddp, raising_peer_lost
from trainwright_trainer.strategies.interface import PeerLost
from trainwright_trainer.strategies.single import Single


def broadcast_state() -> dict[str, object]:
    strategy = Ddp()
    rank = strategy.rank
    strategy.vote(lambda: (rank == 1, False))
    total = strategy.total(torch.tensor(float(rank + 1)))
    part = torch.tensor(float(rank + 1), requires_grad=True)
    whole = strategy.whole(part)
    (whole * whole).backward()
    return {
        "rank": (strategy.rank, strategy.world),
        "total": float(total),
        "agreed": strategy.agreed(),
        "whole": (float(whole), float(part.grad)),
        "gathered": [one["a"].tolist() for one in strategy.gather({"a": torch.arange(rank)})],
        "shared": strategy.share({"word": rank} if rank == 0 else None),
    }


def test_what_ranks_exchange():
    first, *others = on_ranks(3, broadcast_state)
    for rank, one in enumerate([first, *others]):
        assert one["rank"] == (rank, 3)
        assert one["total"] == 6.0
        assert one["agreed"] == (True, False)
        assert one["whole"] == (6.0, 12.0), "the gradient is of the whole, by the own part"
        assert one["shared"] == {"word": 0}
    assert first["gathered"] == [[], [0], [0, 1]]
    assert [one["gathered"] for one in others] == [[], []]


def lost() -> str:
    strategy = Ddp()
    strategy.total(torch.tensor(1.0))
    if strategy.rank == 1:
        strategy.leave()
        return "left"
    try:
        strategy.total(torch.tensor(1.0))
    except PeerLost:
        return "alone"
    return "in company"


def test_who_leaves_is_missed_at_once():
    assert on_ranks(2, lost) == ["alone", "left"]


def norm_of_slices() -> tuple[list[float], list[float], list[float]]:
    """Outputs, gradients of the input and running variance of a batch norm over unequal slices, one of them empty."""
    strategy = Ddp()
    rows = torch.arange(10, dtype=torch.float64).pow(2).reshape(5, 2)
    low, high = [(0, 3), (3, 3), (3, 5)][strategy.rank]
    norm = BatchNorm(2).double()
    norm.ranks = strategy
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


def test_a_process_alone_needs_no_group():
    assert isinstance(strategy_for("ddp", 1, "cpu"), Single)
