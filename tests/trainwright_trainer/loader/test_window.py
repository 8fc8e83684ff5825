from __future__ import annotations

import pytest
import torch

from trainwright_api.resource.backend import Loader
from trainwright_trainer.loader.batch import ColumnRange, Layout
from trainwright_trainer.loader.window import row_bytes, window_rows

GROUP = 262_144


@pytest.mark.parametrize(
    ("section", "rows"),
    [
        ({}, None),
        ({"fully_executed": False}, 125_000),  # an eighth of 100 MB
        ({"window_size_bytes": 5000}, 50),
        ({"window_size_bytes": 1}, 1),
        ({"fully_executed": False, "window_size_bytes": 5000}, 50),
        ({"window_size_bytes": 100 * (GROUP - 1)}, GROUP - 1),
        ({"window_size_bytes": 100 * (3 * GROUP - 1)}, 2 * GROUP),
    ],
)
def test_the_rows_of_a_window(section, rows):
    assert window_rows(Loader.model_validate(section), 100.0, 100_000_000) == rows


def test_the_bytes_of_a_row():
    layout = Layout({"x": ColumnRange("floats", 0, 3), "s": ColumnRange("ragged", 0, 1)}, 3, 2)
    statistics = {"x": {}, "s": {"length": 2.5}}
    assert row_bytes(layout, torch.float32, statistics) == 8 + 3 * 4 + 2 * 8 + 8 + 2.5 * 4
    assert row_bytes(layout, torch.float64, statistics) == 8 + 3 * 8 + 2 * 8 + 8 + 2.5 * 4
