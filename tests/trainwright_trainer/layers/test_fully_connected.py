from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from trainwright_api.config import ModelConfig, resolve
from trainwright_api.config.combiners.concat import ConcatCombiner
from trainwright_api.config.decoders import RegressorDecoder
from trainwright_api.problems import Mistakes
from trainwright_api.schema.fields import ActivationWord
from trainwright_trainer.layers.fully_connected import ACTIVATIONS, FullyConnected, activation, stack_of


def stack(input_size: int = 5, residual: bool = False, **fields: Any) -> FullyConnected:
    config = ConcatCombiner.model_validate(fields)
    return FullyConnected(input_size, stack_of(config, "config.combiner"), residual=residual)


def test_no_layers_hand_on_their_input() -> None:
    rows = torch.randn(2, 5)
    assert stack()(rows) is rows


def test_layers_have_the_sections_settings() -> None:
    found = stack(num_fc_layers=2, output_size=3, activation="tanh", dropout=0.25, norm="layer", use_bias=False)
    assert found.output_size == 3
    for layer, inputs in zip(found.layers, (5, 3), strict=True):
        assert layer.linear.weight.shape == (3, inputs)
        assert layer.linear.bias is None
        assert isinstance(layer.norm, nn.LayerNorm)
        assert isinstance(layer.activation, nn.Tanh)
        assert layer.dropout.p == 0.25


def test_listed_layers_change_single_settings() -> None:
    layers = [{"output_size": 4, "activation": None}, {"use_bias": False, "norm": "batch", "norm_params": {"eps": 0.5}}]
    for config in (ConcatCombiner.model_validate({"fc_layers": layers, "output_size": 7}), resolved(layers)):
        first, second = FullyConnected(5, stack_of(config, "config.combiner")).layers
        assert first.linear.weight.shape == (4, 5)
        assert first.activation is None
        assert first.linear.bias is not None
        assert second.linear.weight.shape == (7, 4)
        assert second.linear.bias is None
        assert second.norm.eps == 0.5
        assert isinstance(second.activation, nn.ReLU)


def resolved(layers: list[dict[str, Any]]) -> ConcatCombiner:
    given = {
        "input_features": [{"name": "a", "type": "number"}],
        "output_features": [{"name": "y", "type": "binary"}],
        "combiner": {"type": "concat", "fc_layers": layers, "output_size": 7},
    }
    combiner = resolve(ModelConfig.model_validate(given)).combiner
    assert isinstance(combiner, ConcatCombiner)
    return combiner


def test_the_order_is_linear_norm_activation() -> None:
    found = stack(num_fc_layers=1, output_size=3, norm="layer")
    layer = found.layers[0]
    rows = torch.randn(4, 5)
    torch.testing.assert_close(found(rows), torch.relu(layer.norm(layer.linear(rows))))


def test_a_residual_is_added_where_the_widths_are_equal() -> None:
    found = stack(num_fc_layers=2, output_size=3, residual=True)
    rows = torch.randn(4, 5)
    first = found.layers[0](rows)
    torch.testing.assert_close(found(rows), first + found.layers[1](first))


def test_fields_of_decoders_have_a_prefix() -> None:
    config = RegressorDecoder(num_fc_layers=1, fc_output_size=2, fc_activation=None)
    (layer,) = stack_of(config, "config.output_features[0].decoder")
    assert (layer.output_size, layer.activation) == (2, None)


def test_a_mistake_names_the_layer_and_the_field() -> None:
    with pytest.raises(Mistakes, match=r"config\.combiner\.fc_layers\[1\]\.bias_initializer: 'orthogonal'"):
        stack(fc_layers=[{"output_size": 2}, {"bias_initializer": "orthogonal"}])
    config = RegressorDecoder(num_fc_layers=1, fc_weights_initializer="dirac")
    with pytest.raises(Mistakes, match=r"decoder\.fc_weights_initializer"):
        FullyConnected(2, stack_of(config, "decoder"))


def test_every_activation_of_the_contract_has_its_function() -> None:
    assert set(ACTIVATIONS) == set(ActivationWord.__args__)
    assert isinstance(activation("leakyRelu"), nn.LeakyReLU)
    assert activation(None) is None
