"""The order of rows, compared with the published vectors and its documented properties."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainwright_trainer.data.order import hashes, key, mix

VECTORS = json.loads(Path(__file__).with_name("vectors.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", VECTORS["mix"])
def test_mix_is_as_published(case):
    assert mix(int(case["z"], 16)) == int(case["mix"], 16)


@pytest.mark.parametrize("case", VECTORS["key"])
def test_keys_are_as_published(case):
    assert key(case["seed"], *case["words"]) == int(case["key"], 16)


@pytest.mark.parametrize("case", VECTORS["hash"])
def test_hashes_are_as_published(case):
    assert hashes(int(case["key"], 16), np.array([case["row"]])).tolist() == [int(case["hash"], 16)]


@given(st.integers(0, 2**64 - 1))
def test_hashes_of_one_key_never_tie(of_key):
    assert len(np.unique(hashes(of_key, np.arange(5000)))) == 5000
