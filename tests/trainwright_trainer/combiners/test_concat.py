from __future__ import annotations

import torch

from .making import made


def test_inputs_stand_side_by_side() -> None:
    combiner = made({"type": "concat"}, size="number", point="vector")
    values, penalty, _ = combiner([torch.ones(2, 1), torch.zeros(2, 2)])
    assert values.tolist() == [[1, 0, 0], [1, 0, 0]]
    assert penalty is None
    assert combiner.output_size == 3


def test_one_input_is_not_copied() -> None:
    rows = torch.ones(2, 3)
    assert made({"type": "concat", "flatten_inputs": True}, kind="category")([rows]).values is rows


def test_layers_and_residual_follow() -> None:
    layers = {"num_fc_layers": 1, "output_size": 3, "residual": True, "weights_initializer": "zeros"}
    rows = torch.randn(2, 3)
    assert torch.equal(made({"type": "concat", **layers}, kind="category")([rows]).values, rows)
