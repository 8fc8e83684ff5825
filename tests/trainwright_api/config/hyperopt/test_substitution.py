"""The values of a search's parameters, put into a config."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from trainwright_api.config.hyperopt.substitution import location_of, substituted

CONFIG: dict[str, Any] = {
    "input_features": [{"name": "a", "type": "number"}, {"name": "a.b", "type": "text", "encoder": "rnn"}],
    "output_features": [{"name": "y", "type": "binary", "loss": {"weight": 2.0}}],
    "combiner": "concat",
    "trainer": {"epochs": 3},
}


@pytest.mark.parametrize(
    ("name", "location"),
    [
        ("trainer.learning_rate", ("trainer", "learning_rate")),
        ("a.preprocessing.normalization", ("input_features", 0, "preprocessing", "normalization")),
        ("a.b.encoder.type", ("input_features", 1, "encoder", "type")),
        ("y.loss.weight", ("output_features", 0, "loss", "weight")),
        ("defaults.text.encoder.type", ("defaults", "text", "encoder", "type")),
        (".", ()),
    ],
)
def test_a_name_is_a_path_or_a_field_of_the_feature_with_the_longest_name(name: str, location: Any) -> None:
    assert location_of(CONFIG, name) == location


def test_values_are_set_and_the_argument_stays() -> None:
    before = copy.deepcopy(CONFIG)
    found = substituted(CONFIG, {"trainer.learning_rate": 0.1, "y.loss.weight": 1.0, "a.encoder.num_layers": 2})
    assert found["trainer"] == {"epochs": 3, "learning_rate": 0.1}
    assert found["output_features"][0]["loss"] == {"weight": 1.0}
    assert found["input_features"][0]["encoder"] == {"num_layers": 2}
    assert before == CONFIG


def test_a_word_is_the_type_of_its_section() -> None:
    found = substituted(CONFIG, {"combiner.num_fc_layers": 2, "a.b.encoder.cell_type": "gru"})
    assert found["combiner"] == {"type": "concat", "num_fc_layers": 2}
    assert found["input_features"][1]["encoder"] == {"type": "rnn", "cell_type": "gru"}


def test_the_trainer_section_ludwig_keeps_its_meaning() -> None:
    found = substituted({**CONFIG, "trainer": "ludwig"}, {"trainer.epochs": 2})
    assert found["trainer"] == {"validation_metric": None, "epochs": 2}


def test_a_part_of_the_config_is_merged_and_the_later_parameter_wins() -> None:
    part = {"combiner": {"num_fc_layers": 1}, "trainer": {"epochs": 5, "batch_size": 8}}
    assert substituted(CONFIG, {"trainer.epochs": 9, ".": part})["trainer"] == {"epochs": 5, "batch_size": 8}
    found = substituted(CONFIG, {".": part, "trainer.epochs": 9})
    assert found["trainer"] == {"epochs": 9, "batch_size": 8}
    assert found["combiner"] == {"type": "concat", "num_fc_layers": 1}
