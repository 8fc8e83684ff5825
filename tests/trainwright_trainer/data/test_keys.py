"""The inputs on which a key depends."""

from __future__ import annotations

import pytest

from trainwright_api.config import preprocessing as sections
from trainwright_trainer.data.keys import digest, feature_key, split_key, statistics_key
from trainwright_trainer.features.column import Feature


def feature(**options):
    section = sections.NumberPreprocessing.model_validate(options)
    return Feature("x", "column", "number", False, section, "config.input_features[0]")


def test_a_digest_has_one_spelling():
    assert digest({"b": 1, "a": [True, None]}) == digest({"a": [True, None], "b": 1})
    assert digest({"a": 1}) != digest({"a": "1"})


@pytest.mark.parametrize(
    "preprocessing",
    [{"sample_ratio": 0.5}, {"sample_size": 5}, {"split": {"type": "random", "probabilities": [0.5, 0.3, 0.2]}}],
)
def test_a_split_depends_on_content_section_sampling_and_seed(config, preprocessing):
    usual = config(["n:number"], ["y:binary"]).preprocessing
    other = config(["n:number"], ["y:binary"], **preprocessing).preprocessing
    keys = {split_key("a", usual, 0), split_key("b", usual, 0), split_key("a", usual, 1), split_key("a", other, 0)}
    assert len(keys) == 4


def test_a_feature_depends_on_its_reading_and_its_statistics_but_not_on_its_name():
    usual = feature()
    renamed = Feature("y", "column", "number", False, usual.preprocessing, "config.input_features[7]")
    assert feature_key("a", usual, {"m": 1}) == feature_key("a", renamed, {"m": 1})
    assert statistics_key("s", usual) == statistics_key("s", renamed)
    others = [feature(normalization="minmax"), feature(fill_value=1.0)]
    keys = {feature_key("a", one, {"m": 1}) for one in [usual, *others]}
    keys |= {feature_key("b", usual, {"m": 1}), feature_key("a", usual, {"m": 2})}
    assert len(keys) == 5
