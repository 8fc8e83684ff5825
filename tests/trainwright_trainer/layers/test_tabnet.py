from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn

from trainwright_trainer.layers.entmax import sparsemax
from trainwright_trainer.layers.tabnet import AttentiveTransformer, FeatureTransformer, gated_layers

ROWS = torch.randn(6, 3, generator=torch.Generator().manual_seed(0))


def unchanged(_: int) -> nn.Module:
    return nn.Identity()


def test_later_layers_are_added_to_their_input() -> None:
    shared, own = gated_layers(3, 4, range(1)), gated_layers(3, 4, range(1, 3))
    found = FeatureTransformer(shared, own, 4, unchanged)(ROWS)
    expected = F.glu(shared[0](ROWS), 1)
    for layer in own:
        expected = (expected + F.glu(layer(expected), 1)) * math.sqrt(0.5)
    assert found.shape == (6, 4)
    torch.testing.assert_close(found, expected)


def test_shared_layers_belong_to_the_parent_and_norms_do_not() -> None:
    shared = gated_layers(3, 4, range(2))
    first, second = (FeatureTransformer(shared, gated_layers(3, 4, range(2, 3)), 4, nn.BatchNorm1d) for _ in range(2))
    assert not {id(one) for one in first.parameters()} & {id(one) for one in second.parameters()}
    assert [name for name, _ in first.named_parameters() if "norm" not in name] == ["own.0.weight"]
    assert len(first.norms) == 3
    before = second(ROWS)
    with torch.no_grad():
        shared[0].weight.mul_(-1)
    assert not torch.equal(second(ROWS), before)


def test_a_mask_is_a_distribution_and_the_prior_closes_columns() -> None:
    attention = AttentiveTransformer(3, 5, unchanged, sparsemax)
    prior = torch.ones(6, 5)
    assert torch.allclose(attention(ROWS, prior).sum(1), torch.ones(6))
    torch.testing.assert_close(attention(ROWS, 0 * prior), torch.full((6, 5), 0.2))


def test_a_mask_of_half_precision_is_computed_in_full() -> None:
    seen = []

    def watched(scores: torch.Tensor) -> torch.Tensor:
        seen.append(scores.dtype)
        return sparsemax(scores)

    attention = AttentiveTransformer(3, 5, unchanged, watched).bfloat16()
    assert attention(ROWS.bfloat16(), torch.ones(6, 5, dtype=torch.bfloat16)).dtype == torch.bfloat16
    assert seen == [torch.float32]
