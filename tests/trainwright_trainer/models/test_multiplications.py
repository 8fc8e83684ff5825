from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from trainwright_trainer.models.multiplications import multiplications_of_a_row, parameters_of

ROWS, LENGTH = 3, 5


class Mapped(nn.Module):
    """A model of one module, which gets the values of a batch. Its own output is a dict, as that of a model."""

    def __init__(self, *modules: nn.Module) -> None:
        super().__init__()
        self.inner = nn.Sequential(*modules)

    def forward(self, batch: Any) -> dict[str, torch.Tensor]:
        assert not self.training
        found = self.inner(batch.values)
        return {"y": found[0] if isinstance(found, tuple) else found}


def batch_of(*shape: int) -> Any:
    return SimpleNamespace(values=torch.zeros(ROWS, *shape), rows=range(ROWS))


@pytest.mark.parametrize(
    ("modules", "shape", "expected"),
    [
        ([nn.Linear(7, 11), nn.ReLU(), nn.Linear(11, 2)], (7,), 7 * 11 + 11 * 2),
        ([nn.Linear(7, 11)], (LENGTH, 7), LENGTH * 7 * 11),
        ([nn.Conv2d(3, 8, 3)], (3, 10, 12), (8 * 10) * (3 * 8 * 9)),
        ([nn.Conv1d(6, 4, 3, padding=1, groups=2)], (6, LENGTH), LENGTH * (3 * 4 * 3)),
        ([nn.LSTM(7, 6, batch_first=True)], (LENGTH, 7), LENGTH * 4 * 6 * (7 + 6)),
    ],
    ids=["dense", "each token", "image", "grouped", "recurrent"],
)
def test_a_weight_counts_each_time_it_is_used(modules: list[nn.Module], shape: tuple[int, ...], expected: int) -> None:
    model = Mapped(*modules)
    parameters = sum(one.numel() for one in model.parameters())
    assert multiplications_of_a_row(model, batch_of(*shape), 1) == max(expected, parameters)


def test_a_table_of_embeddings_multiplies_nothing() -> None:
    model = Mapped(nn.Embedding(50, 4), nn.Linear(4, 100))
    batch = SimpleNamespace(values=torch.zeros(ROWS, LENGTH, dtype=torch.int64), rows=range(ROWS))
    assert multiplications_of_a_row(model, batch, 1) == LENGTH * 400


def test_biases_are_parameters_too() -> None:
    assert parameters_of(nn.Linear(9, 10)) == 100


def test_the_model_is_as_before() -> None:
    model = Mapped(nn.Linear(7, 1)).train()
    multiplications_of_a_row(model, batch_of(7), 1)
    assert model.training
    assert not any(module._forward_hooks for module in model.modules())


def test_a_parameter_that_zero_3_has_sharded_counts_as_a_whole() -> None:
    layer = nn.Linear(9, 10)
    for parameter in layer.parameters():
        parameter.ds_shape = parameter.shape  # type: ignore[attr-defined]
        parameter.data = torch.empty(0)
    assert parameters_of(layer) == 100
