from __future__ import annotations

from trainwright_api.config import ModelConfig, resolve
from trainwright_trainer.loader.batch import ColumnRange
from trainwright_trainer.loader.layout import layout_of


def test_inputs_come_first_in_the_order_of_the_config_then_targets() -> None:
    given = {
        "input_features": [
            {"name": "n", "type": "number"},
            {"name": "c", "type": "category"},
            {"name": "v", "type": "vector"},
            {"name": "when", "type": "date"},
            {"name": "s", "type": "set"},
            {"name": "b", "type": "binary"},
            {"name": "t", "type": "set"},
        ],
        "output_features": [{"name": "class", "type": "category"}, {"name": "y", "type": "vector"}],
    }
    statistics = {name: {} for name in ("n", "c", "when", "s", "b", "t", "class")} | {
        "v": {"size": 3},
        "y": {"size": 2},
    }
    layout = layout_of(resolve(ModelConfig.model_validate(given)), statistics)
    assert layout.columns == {
        "n": ColumnRange("floats", 0, 1),
        "c": ColumnRange("ints", 0, 1),
        "v": ColumnRange("floats", 1, 4),
        "when": ColumnRange("ints", 1, 10),
        "s": ColumnRange("ragged", 0, 1),
        "b": ColumnRange("floats", 4, 5),
        "t": ColumnRange("ragged", 1, 2),
        "class": ColumnRange("ints", 10, 11),
        "y": ColumnRange("floats", 5, 7),
    }
    assert (layout.float_width, layout.int_width) == (7, 11)
