from __future__ import annotations

import torch

from trainwright_api.config.combiners.concat import ConcatCombiner
from trainwright_trainer.combiners import combiner_for


def test_inputs_stand_side_by_side() -> None:
    combiner = combiner_for(ConcatCombiner(), 3)
    parts = [torch.ones(2, 1), torch.zeros(2, 2)]
    assert combiner(parts).tolist() == [[1, 0, 0], [1, 0, 0]]
    assert combiner.output_size == 3


def test_one_input_is_not_copied() -> None:
    rows = torch.ones(2, 3)
    assert combiner_for(ConcatCombiner(flatten_inputs=True), 3)([rows]) is rows


def test_layers_and_residual_follow() -> None:
    combiner = combiner_for(
        ConcatCombiner(num_fc_layers=1, output_size=3, residual=True, weights_initializer="zeros"), 3
    )
    rows = torch.randn(2, 3)
    assert torch.equal(combiner([rows]), rows)
