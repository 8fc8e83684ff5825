"""The penalty is one on weights."""

from __future__ import annotations

import pytest
import torch

from trainwright_trainer.models.penalty import Kind, penalty


def test_the_biases_of_all_layers_are_left_out() -> None:
    names = ("weight_ih_l0", "bias_ih_l0", "bias_hh_l0_reverse", "bias")
    found = penalty({f"layer.{name}": torch.ones(4) for name in names}, "l2", 0.5)
    assert found == 2.0


@pytest.mark.parametrize(("kind", "expected"), [("l1", 100_000), ("l2", 50_000), ("l1_l2", 150_000)])
def test_the_sum_of_half_precision_has_no_limit_of_its_own(kind: Kind, expected: int) -> None:
    weights = torch.full((200_000,), 0.5, dtype=torch.float16)
    assert penalty({"weight": weights}, kind, 1.0) == expected
