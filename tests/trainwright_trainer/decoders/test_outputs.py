from __future__ import annotations

from typing import Any

import pytest
import torch

from trainwright_api.config import ModelConfig, resolve
from trainwright_api.problems import Mistakes
from trainwright_trainer.decoders.outputs import Outputs

STATISTICS: dict[str, dict[str, Any]] = {
    "n": {"encoded": {"mean": 100.0, "std": 5.0}},
    "b": {"counts": [29, 9]},
    "c": {"vocabulary": ["x", "y", "z"], "counts": [5, 2, 0]},
    "s": {"vocabulary": ["<UNK>", "x"], "counts": [0, 3], "rows": 8, "missing": 2, "fill": None},
    "v": {"size": 2, "mean": [1.0, -10.0], "std": [2.0, 0.0]},
}


def outputs(*features: dict[str, Any], size: int = 4) -> Outputs:
    given = {"input_features": [{"name": "a", "type": "number"}], "output_features": list(features)}
    config = resolve(ModelConfig.model_validate(given))
    return Outputs(config.output_features, STATISTICS, size)


def test_shapes_by_type_in_the_order_of_the_config() -> None:
    logits = outputs(*({"name": name, "type": kind} for name, kind in KINDS))(torch.randn(5, 4))
    assert {name: tuple(values.shape) for name, values in logits.items()} == {
        "v": (5, 2),
        "b": (5,),
        "c": (5, 3),
        "n": (5,),
        "s": (5, 2),
    }
    assert list(logits) == ["v", "b", "c", "n", "s"]


KINDS = (("v", "vector"), ("b", "binary"), ("c", "category"), ("n", "number"), ("s", "set"))


def test_an_output_sees_the_hidden_state_of_those_it_depends_on() -> None:
    first = {"name": "b", "type": "binary", "dependencies": ["n", "c"]}
    second = {"name": "n", "type": "number", "decoder": {"num_fc_layers": 1, "fc_output_size": 7}}
    third = {"name": "c", "type": "category"}
    found = outputs(first, second, third)
    combined = torch.randn(5, 4)
    hidden = found["n"].stack(combined)
    expected = found["b"].started(found["b"].head(torch.cat([combined, hidden, combined], 1))).squeeze(1)
    logits = found(combined)
    assert list(logits) == ["b", "n", "c"]
    torch.testing.assert_close(logits["b"], expected)


def test_a_projector_activates_multiplies_and_clips() -> None:
    decoder = {"type": "projector", "activation": "tanh", "multiplier": 3.0, "clip": [-1.0, 2.0]}
    found = outputs({"name": "v", "type": "vector", "decoder": decoder})
    combined = torch.randn(50, 4) * 5
    expected = (torch.tanh(found["v"].head(combined)) * 3).clamp(-1, 2)
    torch.testing.assert_close(found(combined)["v"], expected)


def test_softmax_ends_a_vectors_decoder_but_not_before_its_own_cross_entropy() -> None:
    ends = outputs({"name": "v", "type": "vector", "softmax": True})(torch.randn(5, 4))["v"]
    torch.testing.assert_close(ends.sum(1), torch.ones(5))
    loss = {"type": "softmax_cross_entropy"}
    waits = outputs({"name": "v", "type": "vector", "softmax": True, "loss": loss})(torch.randn(5, 4))["v"]
    assert (waits.sum(1) - 1).abs().max() > 1e-3


def test_passthrough_hands_on_what_has_the_right_width() -> None:
    found = outputs({"name": "c", "type": "category", "decoder": "passthrough"}, size=3)
    combined = torch.randn(5, 3)
    assert found(combined)["c"] is combined
    with pytest.raises(
        Mistakes, match=r"output_features\[0\]\.decoder: decoder 'passthrough' gets 4 values a row and the target has 3"
    ):
        outputs({"name": "c", "type": "category", "decoder": "passthrough"})


@pytest.mark.parametrize(
    ("feature", "path", "found"),
    [
        ({"name": "n", "type": "number", "decoder": {"type": "regressor", "input_size": 3}}, "decoder.input_size", 4),
        (
            {"name": "c", "type": "category", "decoder": {"type": "classifier", "num_classes": 2}},
            "decoder.num_classes",
            3,
        ),
        ({"name": "c", "type": "category", "num_classes": 2}, "num_classes", 3),
        ({"name": "v", "type": "vector", "decoder": {"type": "projector", "output_size": 3}}, "decoder.output_size", 2),
        ({"name": "n", "type": "number", "input_size": 9}, "input_size", 4),
        (
            {"name": "c", "type": "category", "decoder": {"type": "passthrough", "input_size": 9}},
            "decoder.input_size",
            3,
        ),
    ],
)
def test_a_size_that_contradicts_the_model_is_a_mistake(feature: dict[str, Any], path: str, found: int) -> None:
    size = 3 if feature.get("decoder", {}).get("type") == "passthrough" else 4
    with pytest.raises(
        Mistakes, match=rf"config\.output_features\[0\]\.{path}: is \d, the model and the data make it {found}"
    ):
        outputs(feature, size=size)


@pytest.mark.parametrize(("word", "size"), [("sum", 4), ("concat", 12), ("attention", 4)])
def test_each_output_reduces_a_sequence_in_its_own_way(word: str, size: int) -> None:
    given = {
        "input_features": [{"name": "a", "type": "number"}],
        "output_features": [{"name": "n", "type": "number", "reduce_input": word}, {"name": "b", "type": "binary"}],
    }
    config = resolve(ModelConfig.model_validate(given))
    made = Outputs(config.output_features, STATISTICS, 4, 3)
    values = torch.randn(5, 3, 4)
    logits = made(values)
    assert made["n"].head.weight.shape == (1, size)
    torch.testing.assert_close(logits["b"], made["b"](values.sum(1)).squeeze(1))
    torch.testing.assert_close(logits["n"], made["n"](made["n"].source(values, {})).squeeze(1))
