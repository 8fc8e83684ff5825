"""The penalty is one on weights."""

from __future__ import annotations

import torch

from trainwright_trainer.models.penalty import penalty


def test_the_biases_of_all_layers_are_left_out() -> None:
    names = ("weight_ih_l0", "bias_ih_l0", "bias_hh_l0_reverse", "bias")
    found = penalty({f"layer.{name}": torch.ones(4) for name in names}, "l2", 0.5)
    assert found == 2.0
