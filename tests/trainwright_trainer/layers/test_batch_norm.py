from __future__ import annotations

import pytest
import torch
from torch import nn

from trainwright_trainer.layers.batch_norm import BatchNorm


@pytest.fixture
def rows() -> torch.Tensor:
    return torch.randn(7, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 3 + 2


def both(**parameters: float | bool) -> tuple[BatchNorm, nn.BatchNorm1d]:
    ours, torchs = BatchNorm(3, **parameters).double(), nn.BatchNorm1d(3, **parameters).double()  # type: ignore[arg-type]
    with torch.no_grad():
        for one in (ours, torchs):
            if one.weight is not None and one.bias is not None:
                one.weight.copy_(torch.tensor([1.0, 2.0, 3.0]))
                one.bias.copy_(torch.tensor([0.5, 0.0, -0.5]))
    return ours, torchs


@pytest.mark.parametrize(
    "parameters", [{}, {"eps": 1e-3}, {"momentum": 0.3}, {"affine": False}, {"track_running_stats": False}]
)
def test_it_is_torchs_batch_norm(rows: torch.Tensor, parameters: dict[str, float | bool]) -> None:
    ours, torchs = both(**parameters)
    for _ in range(3):
        torch.testing.assert_close(ours(rows), torchs(rows))
    ours.eval(), torchs.eval()
    torch.testing.assert_close(ours(rows + 1), torchs(rows + 1))
    assert set(ours.state_dict()) == set(torchs.state_dict()) - {"num_batches_tracked"}


def test_gradients_are_torchs(rows: torch.Tensor) -> None:
    ours, torchs = both()
    found = [rows.clone().requires_grad_() for _ in range(2)]
    for one, x in zip((ours, torchs), found, strict=True):
        one(x).pow(3).sum().backward()
    torch.testing.assert_close(found[0].grad, found[1].grad)


def test_one_row_is_normalised_by_the_running_statistics_and_does_not_change_them(rows: torch.Tensor) -> None:
    ours, _ = both()
    ours(rows)
    before = {name: tensor.clone() for name, tensor in ours.state_dict().items()}
    seen = ours(rows[:1])
    torch.testing.assert_close(ours.state_dict(), before, rtol=0, atol=0)
    torch.testing.assert_close(seen, ours.eval()(rows[:1]))


def test_half_precision_is_normalised_in_full() -> None:
    ours = BatchNorm(2)
    rows = torch.tensor([[1000.0, 1], [1001, 2], [1002, 3]], dtype=torch.bfloat16)
    assert ours(rows).dtype == torch.bfloat16
    assert ours.running_mean.dtype == torch.float32
