"""The resolved config: defaults merged, everything given, nothing changed by doing it twice."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from trainwright_api.config import ModelConfig, resolve, stored_config
from trainwright_api.config.encoders import DenseEncoder, PassthroughEncoder
from trainwright_api.config.features import CategoryInput, NumberInput, NumberOutput
from trainwright_api.schema.section import Section


def resolved(inputs: list[Any], outputs: list[Any] | None = None, **rest: Any) -> ModelConfig:
    """The resolved config of these features."""
    outputs = outputs or [{"name": "y", "type": "number"}]
    return resolve(ModelConfig.model_validate({"input_features": inputs, "output_features": outputs, **rest}))


def number(**fields: Any) -> dict[str, Any]:
    """An input."""
    return {"name": "a", "type": "number", **fields}


def encoder(given: Any, default: Any) -> Any:
    """The encoder of a number that gives `given`, where `default` holds for numbers."""
    defaults = {"number": {"encoder": default}}
    config = resolved([number() if given is None else number(encoder=given)], defaults=defaults)
    return config.input_features[0].encoder


def test_the_column_is_the_name_where_absent() -> None:
    config = resolved([number(), {"name": "b", "type": "text", "column": "c"}])
    assert [feature.column for feature in config.input_features] == ["a", "c"]
    assert config.output_features[0].column == "y"


def test_a_default_stands_where_the_feature_says_nothing() -> None:
    assert encoder(None, {"type": "dense", "num_layers": 3}).num_layers == 3
    assert isinstance(encoder(None, "dense"), DenseEncoder)


def test_what_the_feature_gives_comes_first() -> None:
    found = encoder({"type": "dense", "dropout": 0.1}, {"type": "dense", "dropout": 0.5, "num_layers": 3})
    assert (found.dropout, found.num_layers) == (0.1, 3)


def test_a_feature_without_a_type_of_its_own_takes_the_default_one() -> None:
    found = encoder({"dropout": 0.1}, {"type": "dense", "num_layers": 3})
    assert isinstance(found, DenseEncoder)
    assert (found.dropout, found.num_layers) == (0.1, 3)


def test_a_default_of_another_type_is_passed_over() -> None:
    assert isinstance(encoder("passthrough", {"type": "dense", "num_layers": 3}), PassthroughEncoder)


def test_a_default_of_another_feature_type_is_passed_over() -> None:
    config = resolved([{"name": "a", "type": "binary"}], defaults={"number": {"encoder": "dense"}})
    assert isinstance(config.input_features[0].encoder, PassthroughEncoder)


def test_preprocessing_holds_for_inputs_and_outputs() -> None:
    given = {"missing_value_strategy": "ffill", "fill_value": 3}
    config = resolved([number(preprocessing={"fill_value": 4})], defaults={"number": {"preprocessing": given}})
    first, target = config.input_features[0], config.output_features[0]
    assert isinstance(first, NumberInput)
    assert isinstance(target, NumberOutput)
    assert (first.preprocessing.missing_value_strategy, first.preprocessing.fill_value) == ("ffill", 4)
    assert (target.preprocessing.missing_value_strategy, target.preprocessing.fill_value) == ("ffill", 3)
    assert (first.preprocessing.normalization, target.preprocessing.normalization) == ("zscore", None)


def test_what_an_output_does_not_know_is_left_out_of_its_preprocessing() -> None:
    series = {"name": "y", "type": "timeseries"}
    config = resolved(
        [number()], [series], defaults={"timeseries": {"preprocessing": {"window_size": 3, "padding": "left"}}}
    )
    assert config.output_features[0].preprocessing.padding == "left"  # type: ignore[union-attr]


def test_a_field_called_type_makes_no_kind_of_preprocessing() -> None:
    sound = {"name": "a", "type": "audio", "preprocessing": {"type": "raw"}}
    config = resolved([sound], defaults={"audio": {"preprocessing": {"type": "stft", "padding_value": 1}}})
    found = config.input_features[0].preprocessing
    assert (found.type, found.padding_value) == ("raw", 1.0)  # type: ignore[union-attr]


def test_decoder_and_loss_hold_for_outputs() -> None:
    defaults = {"number": {"decoder": {"num_fc_layers": 2}, "loss": {"type": "huber", "delta": 2}}}
    config = resolved([number()], [{"name": "y", "type": "number", "loss": {"weight": 3}}], defaults=defaults)
    target = config.output_features[0]
    assert isinstance(target, NumberOutput)
    assert target.decoder.num_fc_layers == 2
    assert target.loss.model_dump() == {"type": "huber", "delta": 2.0, "weight": 3.0}


def test_augmentation_holds_for_images() -> None:
    images = [{"name": "a", "type": "image"}, {"name": "b", "type": "image", "augmentation": False}]
    config = resolved(images, defaults={"image": {"augmentation": True}})
    found = [[step.type for step in feature.augmentation] for feature in config.input_features]  # type: ignore[union-attr]
    assert found == [["random_horizontal_flip", "random_rotate"], []]


def test_everything_is_given() -> None:
    config = resolved([number(encoder="dense"), {"name": "c", "type": "category"}])
    assert isinstance(config.input_features[1], CategoryInput)
    assert config.model_dump(exclude_unset=True) == config.model_dump()
    assert_full(config)


def assert_full(value: Any) -> None:
    """Every section within has all of its fields given."""
    if isinstance(value, list):
        for item in value:
            assert_full(item)
    if isinstance(value, Section):
        assert value.model_fields_set == set(type(value).model_fields)
        for name in value.model_fields_set:
            assert_full(getattr(value, name))


def test_layers_take_what_they_leave_open_from_their_stack() -> None:
    layers = [{"output_size": 4}, {"activation": None, "norm": None}]
    config = resolved([number()], combiner={"dropout": 0.2, "norm": "batch", "fc_layers": layers})
    first, second = config.combiner.fc_layers  # type: ignore[attr-defined]
    assert (first.output_size, first.activation, first.norm, first.dropout) == (4, "relu", "batch", 0.2)
    assert (second.output_size, second.activation, second.norm, second.dropout) == (256, None, None, 0.2)


def test_layers_of_a_decoder_take_its_fc_fields() -> None:
    decoder = {"fc_layers": [{}], "fc_dropout": 0.3, "fc_output_size": 7, "bias_initializer": "ones"}
    config = resolved([number()], [{"name": "y", "type": "number", "decoder": decoder}])
    layer = config.output_features[0].decoder.fc_layers[0]  # type: ignore[index]
    assert (layer.dropout, layer.output_size, layer.bias_initializer) == (0.3, 7, "zeros")


@pytest.mark.parametrize("defaults", [None, {}, {"number": {"encoder": "dense", "preprocessing": {"fill_value": 1}}}])
def test_resolving_twice_changes_nothing(defaults: Any) -> None:
    once = resolved([number(), {"name": "b", "type": "text"}], defaults=defaults, combiner={"fc_layers": [{}]})
    assert resolve(once) == once
    assert resolve(ModelConfig.model_validate(once.model_dump(mode="json"))) == once


def test_the_given_config_is_left_as_it_is() -> None:
    config = ModelConfig.model_validate(
        {"input_features": [number()], "output_features": [{"name": "y", "type": "number"}], "defaults": {"number": {}}}
    )
    before = config.model_dump(exclude_unset=True)
    resolve(config)
    assert config.model_dump(exclude_unset=True) == before


def test_the_config_of_a_model_is_read_though_later_versions_refuse_relations_in_it() -> None:
    trainer: dict[str, dict[str, Any]] = {"learning_rate_scheduler": {"decay_rate": 0.5}}
    stored = resolved([number()]).model_dump() | {"trainer": trainer}
    schedule = stored_config(stored).trainer.learning_rate_scheduler
    assert schedule is not None
    assert schedule.decay_rate == 0.5
    with pytest.raises(ValidationError, match="acts only with decay exponential"):
        ModelConfig.model_validate(stored)
    trainer["learning_rate_scheduler"]["decay_rate"] = "high"
    with pytest.raises(ValidationError, match="decay_rate"):
        stored_config(stored)
