"""A linear layer computes the same, whatever the form of its product."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from trainwright_api.config.combiners.concat import ConcatCombiner
from trainwright_trainer.layers.fully_connected import FullyConnected, linear, stack_of
from trainwright_trainer.layers.linear_products import Lookup, is_faster, linear_of_parts, linear_of_rows, side_by_side

ROWS = 40


def parts(shape: str) -> list[torch.Tensor | Lookup]:
    """`p`: a tensor; `l`: a lookup in a table of 5 to 9 rows."""
    generator = torch.Generator().manual_seed(3)
    found: list[torch.Tensor | Lookup] = []
    for at, one in enumerate(shape):
        if one == "p":
            found.append(torch.randn(ROWS, 2 + at, dtype=torch.float64, generator=generator, requires_grad=True))
        else:
            table = torch.randn(5 + at, 3, dtype=torch.float64, generator=generator, requires_grad=True)
            found.append(Lookup(table, torch.randint(0, 5 + at, (ROWS,), generator=generator)))
    return found


@pytest.mark.parametrize("shape", ["l", "lll", "pl", "lp", "lplpp", "ppll"])
@pytest.mark.parametrize("use_bias", [True, False])
def test_values_and_gradients_are_those_of_the_rows(shape: str, use_bias: bool) -> None:
    given = parts(shape)
    leaves = [one.table if isinstance(one, Lookup) else one for one in given]
    width = side_by_side(given).shape[1]
    weight = torch.randn(4, width, dtype=torch.float64, requires_grad=True)
    bias = torch.randn(4, dtype=torch.float64, requires_grad=True) if use_bias else None
    leaves += [weight] if bias is None else [weight, bias]
    found, wanted = linear_of_parts(given, weight, bias), F.linear(side_by_side(given), weight, bias)
    assert torch.allclose(found, wanted, rtol=0, atol=1e-12)
    factor = torch.randn_like(found)
    for own, other in zip(*(torch.autograd.grad((one * factor).sum(), leaves) for one in (found, wanted)), strict=True):
        assert torch.allclose(own, other, rtol=0, atol=1e-11)


@pytest.mark.parametrize("columns", [1, 11, 16])
@pytest.mark.parametrize("use_bias", [True, False])
def test_few_columns_give_the_same_values_and_gradients(columns: int, use_bias: bool) -> None:
    rows, weight = (torch.randn(n, columns, dtype=torch.float64, requires_grad=True) for n in (ROWS, 64))
    bias = torch.randn(64, dtype=torch.float64, requires_grad=True) if use_bias else None
    leaves = [rows, weight] if bias is None else [rows, weight, bias]
    found, wanted = linear_of_rows(rows, weight, bias), F.linear(rows, weight, bias)
    assert torch.allclose(found, wanted, rtol=0, atol=1e-12)
    factor = torch.randn_like(found)
    for own, other in zip(*(torch.autograd.grad((one * factor).sum(), leaves) for one in (found, wanted)), strict=True):
        assert torch.allclose(own, other, rtol=0, atol=1e-11)


def test_few_columns_of_a_sequence_are_no_matrix() -> None:
    rows, weight = torch.randn(3, 5, 4), torch.randn(64, 4)
    assert torch.equal(linear_of_rows(rows, weight, None), F.linear(rows, weight))


def test_half_precision_multiplies_the_rows() -> None:
    given = [Lookup(one.table.bfloat16(), one.labels) for one in parts("ll") if isinstance(one, Lookup)]
    weight = torch.randn(4, 6, dtype=torch.bfloat16)
    assert torch.equal(linear_of_parts(given, weight, None), F.linear(side_by_side(given), weight))


def test_a_lookup_needs_as_many_rows_as_labels_and_an_eager_forward_pass() -> None:
    labels = torch.zeros(10, dtype=torch.int64)
    assert is_faster(10, labels)
    assert not is_faster(11, labels)
    assert not is_faster(10, labels.to("meta"))
    with torch.autocast("cpu", torch.bfloat16):
        assert not is_faster(10, labels)
    assert not torch.compile(lambda given: torch.tensor(is_faster(10, given)), backend="eager")(labels)


@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("layers", [0, 2])
def test_a_stack_takes_parts(residual: bool, layers: int) -> None:
    given = parts("lp")
    width = side_by_side(given).shape[1]
    config = ConcatCombiner.model_validate({"num_fc_layers": layers, "output_size": width})
    stack = FullyConnected(width, stack_of(config, "config.combiner"), residual=residual).double()
    assert torch.allclose(stack.of_parts(given), stack(side_by_side(given)), rtol=0, atol=1e-12)


def test_a_layer_multiplies_tables_and_not_rows(monkeypatch) -> None:
    """Otherwise nothing is saved."""
    sizes = []
    multiply = F.linear
    monkeypatch.setattr(F, "linear", lambda rows, *more: sizes.append(len(rows)) or multiply(rows, *more))
    linear(6, 4).double()(parts("ll"))
    assert sizes == [5, 6]
