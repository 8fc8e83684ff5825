"""Plain data written as YAML is read back as it was, by any version of YAML."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from trainwright_api.generate.blocks import dump
from trainwright_api.yaml.nodes import read

TEXT = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=12
) | st.sampled_from(
    ["no", "y", "On", "true", "null", "1", "1e-4", "- a", "a: b", "#", "", "~", "2020-01-01", "0x1", "a b", "=", "<<"]
)
DATA = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(TEXT, below, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(TEXT, DATA, max_size=4))
def test_what_is_written_is_read_back(data: dict[str, Any]) -> None:
    assert (read(dump(data)).data or {}) == data


@pytest.mark.parametrize("word", ["no", "y", "On", "1e-4", "2020-01-01", "0x1", "null", "12:30:45", "="])
def test_a_text_is_a_text_to_the_yaml_of_kubectl(word: str) -> None:
    yaml = YAML(typ="safe", pure=True)
    yaml.version = (1, 1)
    assert yaml.load(dump({"a": word})) == {"a": word}
