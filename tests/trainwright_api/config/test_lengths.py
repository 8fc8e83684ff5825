"""The lengths of columns of tokens."""

from __future__ import annotations

from typing import Any

import pytest
from tests.trainwright_api.config.test_relations import config, mistakes

from trainwright_api.config import ModelConfig

LINE = "is 300, and max_sequence_length cuts at 256: raise that too, or set it to null"


def words(own: dict[str, Any], default: dict[str, Any] | None = None) -> dict[str, Any]:
    """A text, with `default` as the preprocessing of all texts."""
    defaults = {"defaults": {"text": {"preprocessing": default}}} if default else {}
    return config([("a", "text", {"preprocessing": own})], **defaults)


@pytest.mark.parametrize("value", [words({"sequence_length": 300}), words({}, {"sequence_length": 300})], ids=str)
def test_a_length_that_would_be_cut_is_refused(value: dict[str, Any]) -> None:
    assert mistakes(value) == {"input_features.0.preprocessing.sequence_length": LINE}


@pytest.mark.parametrize(
    "value",
    [
        words({"sequence_length": 256}),
        words({"sequence_length": 300, "max_sequence_length": None}),
        words({"sequence_length": 300}, {"max_sequence_length": 400}),
    ],
    ids=str,
)
def test_a_length_that_fits_is_accepted(value: dict[str, Any]) -> None:
    ModelConfig.model_validate(value)


def test_a_target_has_lengths_too() -> None:
    value = config([("a", "text", {})], [("t", "text", {"preprocessing": {"sequence_length": 300}})])
    assert mistakes(value) == {"output_features.0.preprocessing.sequence_length": LINE}
