"""The encoders of tied inputs."""

from __future__ import annotations

from typing import Any

import pytest
from tests.trainwright_api.config.test_relations import config, mistakes

from trainwright_api.config import ModelConfig, resolve

WIDE, NARROW = {"type": "dense", "output_size": 16}, {"type": "dense", "output_size": 8}
AT = "input_features.0.encoder"


def tied(own: Any, root: Any, default: Any = None) -> dict[str, Any]:
    """Three numbers: `a` is tied to `b`, and `b` to `c`. None: without an encoder. `default`: that of all numbers."""
    encoders = {name: {} if given is None else {"encoder": given} for name, given in (("a", own), ("c", root))}
    inputs = [
        ("a", "number", {"tied": "b", **encoders["a"]}),
        ("b", "number", {"tied": "c"}),
        ("c", "number", encoders["c"]),
    ]
    return config(inputs, **({"defaults": {"number": {"encoder": default}}} if default else {}))


@pytest.mark.parametrize(
    "value",
    [
        tied(NARROW, WIDE),
        tied(NARROW, None),
        tied("dense", None),
        tied(NARROW, WIDE, "dense"),
        tied(NARROW, None, WIDE),
    ],
    ids=str,
)
def test_an_encoder_that_is_not_that_of_the_root_is_refused(value: dict[str, Any]) -> None:
    assert mistakes(value) == {AT: "is not that of 'c', which this input is tied to: leave it out"}


@pytest.mark.parametrize(
    ("value", "width"),
    [
        (tied(None, WIDE), 16),
        (tied(WIDE, WIDE), 16),
        (tied({**WIDE, "dropout": 0.0}, WIDE), 16),
        (tied(None, None, NARROW), 8),
        (tied(None, WIDE, NARROW), 16),
        (tied("dense", None, NARROW), 8),
    ],
    ids=str,
)
def test_tied_inputs_have_the_encoder_of_their_root(value: dict[str, Any], width: int) -> None:
    found = resolve(ModelConfig.model_validate(value))
    assert [one.encoder.output_size for one in found.input_features] == [width] * 3
    assert resolve(found) == found


def test_the_default_encoder_is_none_of_its_own() -> None:
    """Ludwig writes it into the config of a run, and so did earlier versions."""
    ModelConfig.model_validate(tied({"type": "passthrough", "skip": False}, WIDE))


def test_a_tied_text_has_the_tokenizer_of_the_shared_encoder() -> None:
    inputs = [("a", "text", {"tied": "b"}), ("b", "text", {"encoder": "bert"})]
    found = resolve(ModelConfig.model_validate(config(inputs)))
    tokenizers = [one.preprocessing.tokenizer for one in found.input_features]
    assert tokenizers == ["hf_tokenizer"] * 2


def test_a_tied_text_caches_the_embeddings_of_its_root() -> None:
    """It has no encoder of its own, and the default one is always trained."""
    caches = {"preprocessing": {"cache_encoder_embeddings": True}}
    value = config([("a", "text", {**caches, "tied": "b"}), ("b", "text", {**caches, "encoder": "bert"})])
    assert resolve(ModelConfig.model_validate(value)).input_features[0].encoder.type == "bert"
    value["input_features"][0]["encoder"] = "parallel_cnn"
    assert (
        "and 'parallel_cnn' is always trained"
        in mistakes(value)["input_features.0.preprocessing.cache_encoder_embeddings"]
    )
