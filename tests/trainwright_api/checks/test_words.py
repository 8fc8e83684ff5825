"""A wrong word gets the nearest built one, or all that are built."""

from __future__ import annotations

from typing import Any

import pytest

from trainwright_api.checks.validate import inspect

AGE = {"name": "age", "type": "number"}
LEFT = {"name": "left", "type": "binary"}


def line(**config: Any) -> str:
    spec = {"dataset": "d", "config": {"input_features": [AGE], "output_features": [LEFT], **config}}
    (problem,) = inspect(spec, "job.yaml").mistakes
    return str(problem)


@pytest.mark.parametrize("features", ["input", "output"])
@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("float", "'number'"),
        ("int", "'number'"),
        ("integer", "'number'"),
        ("string", "'category' or 'text'"),
        ("str", "'category' or 'text'"),
        ("bool", "'binary'"),
        ("Boolean", "'binary'"),
    ],
)
def test_the_type_of_a_column_gets_that_of_a_feature(features: str, word: str, meant: str) -> None:
    found = line(**{f"{features}_features": [{"name": "a", "type": word}]})
    assert found.endswith(f"'{word}' is no {features} feature type: did you mean {meant}?")


EXPECTED: dict[str, tuple[dict[str, Any], str]] = {
    "an output": (
        {"output_features": [{"name": "day", "type": "date"}]},
        "config.output_features[0].type: 'date' is no output feature type: expected one of category, binary, number, "
        "sequence, set, text, vector",
    ),
    "a word of an unbuilt one": (
        {"trainer": {"optimizer": "adam_8bi"}},
        "config.trainer.optimizer: 'adam_8bi' is no optimizer: expected one of sgd, adam, adamw, adadelta, adagrad, "
        "adamax, nadam, rmsprop",
    ),
    "a word of a built one": (
        {"trainer": {"optimizer": "adamm"}},
        "config.trainer.optimizer: 'adamm' is no optimizer: did you mean 'adam'?",
    ),
    "a word of a field": ({"model_type": "gbm"}, "config.model_type: expected ecd, found the text 'gbm'"),
}


@pytest.mark.parametrize(("config", "expected"), EXPECTED.values(), ids=EXPECTED.keys())
def test_only_what_is_built_is_expected(config: dict[str, Any], expected: str) -> None:
    assert line(**config) == expected


def test_a_tokenizer_is_one_of_its_type() -> None:
    words = "space, space_punct, characters, underscore, comma, untokenized, stripped"
    for kind, more in (("sequence", ""), ("text", ", hf_tokenizer")):
        feature = {"name": "a", "type": kind, "preprocessing": {"tokenizer": "zzz"}}
        assert line(input_features=[feature]).endswith(f"'zzz' is no tokenizer: expected one of {words}{more}")


def test_of_a_type_without_a_built_word_all_are_expected() -> None:
    place = {"name": "place", "type": "h3", "encoder": "zzz"}
    assert "'zzz' is no encoder of a h3 feature: expected one of " in line(input_features=[place])
