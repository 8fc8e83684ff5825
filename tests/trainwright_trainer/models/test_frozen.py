from __future__ import annotations

from typing import Any

import torch

from trainwright_api.config import ModelConfig, resolve
from trainwright_trainer.loader.layout import layout_of
from trainwright_trainer.models.frozen import FrozenEncoders
from trainwright_trainer.models.model import Model
from trainwright_trainer.models.trainable import allocate

_BERT = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8, "vocab_size": 4}
_TEXT = {"type": "text", "encoder": {"type": "bert", "use_pretrained": False, "reduce_output": "mean", **_BERT}}
STATISTICS: dict[str, Any] = {
    name: {"vocabulary": list("abcd"), "length": 3, "padding": "right"} for name in ("one", "two")
} | {"late": {"type": "binary", "counts": [5, 5], "true": "yes", "false": "no"}}


def config() -> ModelConfig:
    inputs = [{"name": name, **_TEXT} for name in ("one", "two")]
    given = {"input_features": inputs, "output_features": [{"name": "late", "type": "binary"}]}
    return resolve(ModelConfig.model_validate(given))


def test_the_weights_are_those_of_the_whole_model() -> None:
    frozen = FrozenEncoders(config(), STATISTICS, seed=3)
    frozen.digest(1)
    model = Model(config(), STATISTICS, layout_of(config(), STATISTICS), seed=3)
    allocate(model, torch.device("cpu"))
    expected = {name: one for name, one in model.state_dict().items() if name.startswith("encoders.two.")}
    assert set(frozen.weights()) == set(expected)
    for name, tensor in frozen.weights().items():
        assert torch.equal(tensor, expected[name]), name


def test_a_digest_depends_on_each_weight_and_on_nothing_else() -> None:
    first, again, other = (FrozenEncoders(config(), STATISTICS, seed) for seed in (3, 3, 4))
    assert first.digest(0) == again.digest(0) != other.digest(0)
    assert first.digest(0) != first.digest(1)
