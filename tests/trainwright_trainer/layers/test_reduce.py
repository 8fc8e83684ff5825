from __future__ import annotations

from typing import Any, get_args

import pytest
import torch

from trainwright_api.schema.fields import ReductionWord
from trainwright_trainer.layers.reduce import Reduction

WORDS = get_args(ReductionWord)
VALUES = torch.tensor([[[1.0, 5.0], [3.0, -1.0], [2.0, 8.0]], [[4.0, 4.0], [0.0, 0.0], [-2.0, 1.0]]])
MASK = torch.tensor([[True, True, False], [False, True, True]])


@pytest.mark.parametrize(
    ("word", "whole", "masked"),
    [
        ("sum", [[6, 12], [2, 5]], [[4, 4], [-2, 1]]),
        ("mean", [[2, 4], [2 / 3, 5 / 3]], [[2, 2], [-1, 0.5]]),
        ("avg", [[2, 4], [2 / 3, 5 / 3]], [[2, 2], [-1, 0.5]]),
        ("max", [[3, 8], [4, 4]], [[3, 5], [0, 1]]),
        ("last", [[2, 8], [-2, 1]], [[3, -1], [-2, 1]]),
        ("concat", [[1, 5, 3, -1, 2, 8], [4, 4, 0, 0, -2, 1]], [[1, 5, 3, -1, 0, 0], [0, 0, 0, 0, -2, 1]]),
    ],
)
def test_the_values_of_a_reduction(word: str, whole: list[Any], masked: list[Any]) -> None:
    reduction = Reduction(word, 3, 2)
    torch.testing.assert_close(reduction(VALUES), torch.tensor(whole, dtype=torch.float32))
    torch.testing.assert_close(reduction(VALUES, MASK), torch.tensor(masked, dtype=torch.float32))
    assert reduction.output_size == len(whole[0])


def test_attention_is_a_weighted_sum_with_learnt_weights() -> None:
    reduction = Reduction("attention", 3, 2)
    weights = torch.softmax(reduction._reduce.score(torch.tanh(reduction._reduce.hidden(VALUES))), 1)
    torch.testing.assert_close(reduction(VALUES), (weights * VALUES).sum(1))
    assert len(list(reduction.parameters())) == 3


@pytest.mark.parametrize("word", WORDS)
def test_steps_outside_the_mask_change_nothing(word: str) -> None:
    """Not even if they are not numbers."""
    reduction = Reduction(word, 3, 2)
    expected = reduction(VALUES, MASK)
    torch.testing.assert_close(reduction(VALUES + 7 * ~MASK.unsqueeze(2), MASK), expected)
    if word != "attention":
        noisy = VALUES.masked_fill(~MASK.unsqueeze(2), torch.nan)
        torch.testing.assert_close(reduction(noisy, MASK), expected)
    alone = Reduction(word, 2, 2)
    alone.load_state_dict(reduction.state_dict())
    if word != "concat":
        torch.testing.assert_close(alone(VALUES[:1, :2], MASK[:1, :2]), expected[:1])


@pytest.mark.parametrize("word", WORDS)
def test_a_row_without_steps_is_zero_and_has_a_gradient(word: str) -> None:
    values = VALUES.clone().requires_grad_()
    found = Reduction(word, 3, 2)(values, torch.zeros(2, 3, dtype=torch.bool))
    assert not found.any()
    found.sum().backward()
    assert values.grad is not None
    assert not values.grad.any()


@pytest.mark.parametrize("word", WORDS)
def test_no_rows_stay_no_rows(word: str) -> None:
    reduction = Reduction(word, 3, 2)
    assert reduction(VALUES[:0]).shape == (0, reduction.output_size)
