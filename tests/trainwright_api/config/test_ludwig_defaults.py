"""Names and defaults are Ludwig's: `ludwig_defaults.txt` holds them as its schema (0.11) has them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from trainwright_api.config import features, preprocessing
from trainwright_api.config.combiners import COMBINER
from trainwright_api.config.data import SPLIT, PreprocessingConfig
from trainwright_api.config.decoders import DECODERS
from trainwright_api.config.encoders import DEFAULT_ENCODERS, encoder_choice
from trainwright_api.config.features import BaseInput, BaseOutput
from trainwright_api.config.losses import LOSSES
from trainwright_api.config.model import ModelConfig
from trainwright_api.config.trainer import OPTIMIZER, GradientClipping, LearningRateScheduler, Profiler, TrainerConfig
from trainwright_api.schema.section import Section

OURS = {
    "trainer": {"precision"},
    "split datetime": {"datetime_format"},
    **{f"preprocessing {side} image": {"cache_encoder_embeddings"} for side in ("input", "output")},
}
"""Fields that Ludwig does not have."""

SECTIONS = {"type", "name", "preprocessing", "encoder", "decoder", "loss", "augmentation", "optimizer", "split"} | {
    *("learning_rate_scheduler", "gradient_clipping", "profiler", "prompt")
}
"""Fields that hold sections of their own, or have no default; other tests look at them."""

UNLISTED = {"skip", "vocab", "saved_weights_in_checkpoint", "num_channels"}
"""Fields of Ludwig's base classes, which its schema does not repeat for each encoder."""

SINGLE: dict[str, type[Section]] = {
    "trainer": TrainerConfig,
    "learning_rate_scheduler": LearningRateScheduler,
    "gradient_clipping": GradientClipping,
    "profiler": Profiler,
    "preprocessing": PreprocessingConfig,
}
CHOICES = {"combiner": COMBINER, "optimizer": OPTIMIZER, "split": SPLIT}


def table() -> dict[str, dict[str, Any]]:
    """Section → field → default."""
    rows = (Path(__file__).parent / "ludwig_defaults.txt").read_text().splitlines()
    return {key: _fields(rest) for key, _, rest in (row.partition(":") for row in rows)}


def _fields(row: str) -> dict[str, Any]:
    pairs = (item.strip().partition("=") for item in row.split(";") if item.strip())
    return {name: json.loads(value) for name, _, value in pairs}


LUDWIG = table()


def feature(kind: str, word: str) -> type[Section]:
    """The class of a feature type."""
    name = "".join(part.capitalize() for part in word.split("_")) + kind.capitalize()
    found: type[Section] = getattr(features, name)
    return found


def section_of(key: str) -> type[Section]:
    """The class that a row of the table is about."""
    if key in SINGLE:
        return SINGLE[key]
    kind, *words = key.split()
    if kind in CHOICES:
        return CHOICES[kind].section(words[0])
    if kind in ("input", "output"):
        return feature(kind, words[0])
    if kind == "preprocessing":
        name = "".join(part.capitalize() for part in words[1].split("_"))
        found: type[Section] = getattr(
            preprocessing, name + ("Output" if words[0] == "output" else "") + "Preprocessing"
        )
        return found
    if kind == "encoder":
        return encoder_choice(words[0]).section(words[1])
    holder = feature("output", words[0]).model_validate({"name": "a", kind: words[1]})
    return type(getattr(holder, kind))


@pytest.mark.parametrize("key", LUDWIG)
def test_the_defaults_are_ludwigs(key: str) -> None:
    section = section_of(key)
    defaults = {name: field.get_default(call_default_factory=True) for name, field in section.model_fields.items()}
    listed = {name: list(value) if isinstance(value, tuple) else value for name, value in defaults.items()}
    assert {name: listed[name] for name in LUDWIG[key]} == LUDWIG[key]
    for name, value in LUDWIG[key].items():
        assert isinstance(value, bool) == isinstance(listed[name], bool), name


@pytest.mark.parametrize("key", LUDWIG)
def test_there_is_no_field_that_ludwig_does_not_have(key: str) -> None:
    names = set(section_of(key).model_fields) - SECTIONS - UNLISTED - OURS.get(key, set())
    decoder = {name for name in names if key == "decoder image unet" and ("fc_" in name)}
    assert names - decoder == set(LUDWIG[key]) - UNLISTED


DEFAULT_DECODERS = {
    "number": ("regressor", "mean_squared_error"),
    "binary": ("regressor", "binary_weighted_cross_entropy"),
    "category": ("classifier", "softmax_cross_entropy"),
    "category_distribution": ("classifier", "softmax_cross_entropy"),
    "set": ("classifier", "sigmoid_cross_entropy"),
    "vector": ("projector", "mean_squared_error"),
    "timeseries": ("projector", "huber"),
    "sequence": ("generator", "sequence_softmax_cross_entropy"),
    "text": ("generator", "sequence_softmax_cross_entropy"),
    "image": ("unet", "softmax_cross_entropy"),
}


@pytest.mark.parametrize("word", DEFAULT_ENCODERS)
def test_every_input_has_its_default_encoder(word: str) -> None:
    section = feature("input", word).model_validate({"name": "a"})
    assert isinstance(section, BaseInput)
    assert section.encoder.type == DEFAULT_ENCODERS[word]  # type: ignore[attr-defined]
    assert section.preprocessing.model_dump(exclude_unset=True) == {}  # type: ignore[attr-defined]


@pytest.mark.parametrize("word", DEFAULT_DECODERS)
def test_every_output_has_its_default_decoder_and_loss(word: str) -> None:
    section = feature("output", word).model_validate({"name": "a"})
    assert isinstance(section, BaseOutput)
    assert (section.decoder.type, section.loss.type) == DEFAULT_DECODERS[word]  # type: ignore[attr-defined]


def test_the_tables_name_every_type() -> None:
    assert set(DECODERS) == set(LOSSES) == set(DEFAULT_DECODERS)
    assert len(DEFAULT_ENCODERS) == 13


def test_a_model_has_its_default_sections() -> None:
    model = ModelConfig.model_validate(
        {"input_features": [{"name": "a", "type": "number"}], "output_features": [{"name": "b", "type": "number"}]}
    )
    words = (model.combiner.type, model.trainer.optimizer.type, model.preprocessing.split.type)
    assert words == ("concat", "adam", "random")
    assert model.trainer.learning_rate_scheduler == LearningRateScheduler()
    assert model.trainer.gradient_clipping == GradientClipping()
