from __future__ import annotations

import torch

from .making import made

ROWS = [torch.randn(5, width, generator=torch.Generator().manual_seed(width)) for width in (1, 3)]


def test_the_projections_are_averaged_and_layers_follow() -> None:
    combiner = made(
        {"type": "project_aggregate", "projection_size": 4, "output_size": 4}, size="number", kind="category"
    )
    mean = sum(layer(rows) for layer, rows in zip(combiner.projections, ROWS, strict=True)) / 2
    torch.testing.assert_close(combiner(ROWS).values, combiner.stack(mean))
    assert len(combiner.stack.layers) == 2
    assert combiner.output_size == 4


def test_layers_are_added_to_their_input_unless_residual_is_false() -> None:
    settings = {"type": "project_aggregate", "projection_size": 4, "output_size": 4, "weights_initializer": "zeros"}
    kept, lost = (made({**settings, "residual": one}, size="number") for one in (True, False))
    projected = kept.projections[0](ROWS[0])
    torch.testing.assert_close(kept([ROWS[0]]).values, projected)
    assert not lost([ROWS[0]]).values.any()


def test_without_layers_it_is_the_average() -> None:
    combiner = made({"type": "project_aggregate", "num_fc_layers": 0, "norm": None}, size="number")
    torch.testing.assert_close(combiner([ROWS[0]]).values, combiner.projections[0](ROWS[0]))
    assert combiner.output_size == 128
