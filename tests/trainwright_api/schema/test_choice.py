"""Sections whose class is named by a word: which class, by which spelling, and when it is loaded."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from pydantic import ValidationError

from trainwright_api.config import ModelConfig
from trainwright_api.config.encoders import DenseEncoder, PassthroughEncoder
from trainwright_api.config.hyperopt.parameter import PARAMETER
from trainwright_api.config.inputs import INPUT, NUMBER_ENCODER
from trainwright_api.config.trainer import TrainerConfig
from trainwright_api.schema.choice import Choice, default_words


def test_a_bare_word_stands_for_its_type() -> None:
    assert NUMBER_ENCODER.read("dense") == NUMBER_ENCODER.read({"type": "dense"})


def test_an_absent_type_is_the_default_and_stays_absent() -> None:
    section = NUMBER_ENCODER.read({"skip": True})
    assert isinstance(section, PassthroughEncoder)
    assert section.model_dump(exclude_unset=True) == {"skip": True}


def test_a_section_is_left_as_it_is() -> None:
    section = DenseEncoder(num_layers=2)
    assert NUMBER_ENCODER.read(section) is section


def test_the_default_has_nothing_given() -> None:
    assert NUMBER_ENCODER.make().model_fields_set == set()
    assert TrainerConfig().optimizer.model_fields_set == set()


@pytest.mark.parametrize("value", [None, 3, True, ["dense"]])
def test_what_is_neither_word_nor_section_is_refused(value: Any) -> None:
    with pytest.raises(ValidationError) as caught:
        TrainerConfig.model_validate({"optimizer": value})
    line = caught.value.errors()[0]
    assert (line["loc"], line["type"]) == (("optimizer",), "section_type")
    assert line["msg"].startswith("expected the name of an optimizer, or keys and values, found ")


def test_a_word_of_the_defaults_section_stands_for_an_absent_type() -> None:
    with default_words({"encoder of a number feature": "dense"}):
        assert isinstance(NUMBER_ENCODER.read({"num_layers": 2}), DenseEncoder)
        assert isinstance(NUMBER_ENCODER.read("passthrough"), PassthroughEncoder)
    assert isinstance(NUMBER_ENCODER.read({}), PassthroughEncoder)


def test_an_unknown_word_of_the_defaults_section_is_named_there_alone() -> None:
    config = {
        "input_features": [{"name": "a", "type": "number", "encoder": {"skip": True}}],
        "output_features": [{"name": "y", "type": "number"}],
        "defaults": {"number": {"encoder": "dens"}},
    }
    with pytest.raises(ValidationError) as caught:
        ModelConfig.model_validate(config)
    assert [line["loc"] for line in caught.value.errors()] == [("defaults", "number", "encoder")]


LIMITS = {"lower": 0.1, "upper": 0.2}


@pytest.mark.parametrize(
    ("choice", "value", "mistakes"),
    [
        pytest.param(INPUT, {"name": "a", "typ": "number"}, {"typ": "unknown: did you mean 'type'?"}, id="misspelt"),
        pytest.param(INPUT, {"name": "a", "kind": "number"}, {"kind": "unknown: did you mean 'type'?"}, id="a word"),
        pytest.param(INPUT, {"name": "a", "typ": "nmbr"}, {"typ": "unknown: did you mean 'type'?"}, id="both wrong"),
        pytest.param(INPUT, {"name": "number"}, {"type": "Field required"}, id="the name is a word"),
        pytest.param(INPUT, {"name": "a", "column": 3}, {"type": "Field required"}, id="no near key"),
        pytest.param(PARAMETER, {"type": "uniform", **LIMITS}, {"type": "unknown: did you mean 'space'?"}, id="space"),
        pytest.param(
            PARAMETER,
            {"type": "uniform", "lower": 0.1, "max": 0.2},
            {
                "type": "unknown: did you mean 'space'?",
                "upper": "Field required",
                "max": "unknown key: known here: lower, upper, space",
            },
            id="all mistakes at once",
        ),
    ],
)
def test_another_key_with_the_word_is_named(choice: Choice, value: Any, mistakes: dict[str, str]) -> None:
    with pytest.raises(ValidationError) as caught:
        choice.read(value)
    assert {".".join(map(str, line["loc"])): line["msg"] for line in caught.value.errors()} == mistakes


def test_a_table_loads_no_text_no_image_and_no_search() -> None:
    program = """
import sys
from trainwright_api.config import ModelConfig, resolve
features = [{"name": kind, "type": kind} for kind in ("number", "binary", "category", "date", "vector")]
resolve(ModelConfig.model_validate({"input_features": features, "output_features": [{"name": "y", "type": "number"}]}))
print(*sorted(name for name in sys.modules if name.startswith("trainwright_api.config.")))
"""
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    idle = (
        "inputs_",
        "outputs_",
        "preprocessing.text",
        "preprocessing.media",
        "optimizers_bitsandbytes",
        "encoders.text",
        "encoders.torchvision",
        "encoders.sequence",
        "hyperopt",
        "defaults",
        "combiners.tabnet",
    )
    assert not [name for name in loaded if name.removeprefix("trainwright_api.config.").startswith(idle)]
