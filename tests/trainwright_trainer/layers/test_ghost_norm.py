from __future__ import annotations

import pytest
import torch
from torch import nn

from trainwright_trainer.layers.batch_norm import BatchNorm
from trainwright_trainer.layers.ghost_norm import GhostNorm, GhostNorms


@pytest.fixture
def rows() -> torch.Tensor:
    return torch.randn(11, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 3 + 2


def ghost(virtual_rows: int) -> GhostNorm:
    return GhostNorm(3, virtual_batch_size=virtual_rows).double()


def test_each_virtual_batch_is_a_batch_of_batch_norm(rows: torch.Tensor) -> None:
    found = ghost(4)(rows)
    torchs = nn.BatchNorm1d(3, eps=1e-3).double()
    torch.testing.assert_close(found, torch.cat([torchs(part) for part in rows.split(4)]))


def test_gradients_are_those_of_batch_norm(rows: torch.Tensor) -> None:
    ours, torchs = ghost(4), nn.BatchNorm1d(3, eps=1e-3).double()
    one, other = rows.clone().requires_grad_(), rows.clone().requires_grad_()
    ours(one).pow(3).sum().backward()
    torch.cat([torchs(part) for part in other.split(4)]).pow(3).sum().backward()
    torch.testing.assert_close(one.grad, other.grad)
    torch.testing.assert_close(ours.weight.grad, torchs.weight.grad)


def test_one_virtual_batch_has_the_running_statistics_of_batch_norm(rows: torch.Tensor) -> None:
    layer, batch = ghost(11), BatchNorm(3, eps=1e-3, momentum=0.05).double()
    norms = GhostNorms(nn.Sequential(layer))
    for _ in range(3):
        norms.begin(11)
        layer(rows), batch(rows)
        norms.learn(torch.cat(norms.sums()))
    torch.testing.assert_close(layer.state_dict(), batch.state_dict())
    torch.testing.assert_close(layer.eval()(rows + 1), batch.eval()(rows + 1))


def test_running_statistics_do_not_depend_on_the_ranks(rows: torch.Tensor) -> None:
    whole, parts = ghost(4), [ghost(4), ghost(4), ghost(4)]
    GhostNorms(whole).begin(4)
    whole(rows)
    for one, own in zip(parts, (rows[:8], rows[8:], rows[:0]), strict=True):
        GhostNorms(one).begin(4)
        assert one(own).shape == own.shape
    sums = torch.stack([one.sums() for one in parts]).sum(0)
    torch.testing.assert_close(sums, whole.sums())
    assert sums[0] == 3
    whole.learn(sums)
    expected = 0.95**3 * 1 + (1 - 0.95**3) * torch.stack([part.var(0) for part in rows.split(4)]).mean(0)
    torch.testing.assert_close(whole.running_var, expected)


def test_a_step_without_virtual_batches_changes_nothing(rows: torch.Tensor) -> None:
    layer = ghost(4)
    layer.begin(4)
    layer(rows[:1])
    layer.learn(layer.sums())
    assert layer.running_mean.tolist() == [0, 0, 0]
    assert layer.running_var.tolist() == [1, 1, 1]


def test_half_precision_is_normalised_in_full() -> None:
    layer = GhostNorm(2, virtual_batch_size=2)
    layer.begin(2)
    assert layer(torch.tensor([[1000.0, 1], [1001, 2], [1002, 3]], dtype=torch.bfloat16)).dtype == torch.bfloat16
    assert layer.sums().dtype == torch.float32
