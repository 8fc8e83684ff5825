"""The split `stratify`: the published vectors, exact classes, and blocks that do not matter."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainwright_trainer.data.stratify import Classes, StratifiedParts

VECTORS = json.loads(Path(__file__).with_name("vectors.json").read_text(encoding="utf-8"))
USUAL = (0.7, 0.1, 0.2)
SHARES = st.sampled_from([USUAL, (0.5, 0.5, 0.0), (0.2, 0.3, 0.5), (1.0, 0.0, 0.0), (0.34, 0.0, 0.66)])


def parts_of(blocks, seed=42, probabilities=USUAL, kept=None):
    masks = kept or [np.ones(len(block), dtype=np.bool_) for block in blocks]
    classes = Classes()
    for block, mask in zip(blocks, masks, strict=True):
        classes.count(block, mask)
    parts = StratifiedParts(classes, seed, probabilities)
    return np.concatenate([parts.of(block, mask) for block, mask in zip(blocks, masks, strict=True)])


@pytest.mark.parametrize("case", VECTORS["stratify_split"])
def test_parts_are_as_published(case):
    assert parts_of([pa.array(case["texts"])], case["seed"], case["probabilities"]).tolist() == case["parts"]


@given(st.lists(st.sampled_from("aaaaabbc"), min_size=1, max_size=200), st.integers(0, 2**32), SHARES)
def test_each_class_is_divided_to_within_one_row(texts, seed, probabilities):
    parts = parts_of([pa.array(texts)], seed, probabilities).tolist()
    for one, rows in Counter(texts).items():
        found = [sum(p == part and t == one for p, t in zip(parts, texts, strict=True)) for part in range(3)]
        assert sum(found) == rows
        assert found[0] >= 1
        for part, probability in enumerate(probabilities):
            assert abs(found[part] - probability * rows) < 1 + 1e-6
            assert probability > 0 or not found[part]


@given(st.lists(st.sampled_from(["x", "y", None]), min_size=2, max_size=80), st.integers(1, 79))
def test_the_borders_of_blocks_do_not_matter(texts, cut):
    whole = pa.array(texts, pa.string())
    cut %= len(texts)
    blocks = [whole[:cut], whole[cut:].dictionary_encode()]
    assert parts_of(blocks).tolist() == parts_of([whole]).tolist()


def test_a_class_is_the_text_of_its_values():
    as_text = parts_of([pa.array(["1", "2", None, "1", "1", ""] * 9)])
    assert parts_of([pa.array(["1", "2", "", "1", "1", None] * 9)]).tolist() == as_text.tolist()
    numbers = [1, 2, None, 1, 1, None] * 9
    assert parts_of([pa.array(numbers)]).tolist() == as_text.tolist()
    assert parts_of([pa.array(numbers, pa.float64())]).tolist() == as_text.tolist()


def test_another_class_or_seed_has_another_order():
    a, b = (parts_of([pa.array([text] * 400)]) for text in "ab")
    c = parts_of([pa.array(["a"] * 400)], seed=43)
    assert len({part.tobytes() for part in (a, b, c)}) == 3


def test_many_small_classes_add_up_to_the_probabilities():
    texts = [f"class {row // 3}" for row in range(30_000)]
    assert np.allclose(np.bincount(parts_of([pa.array(texts)])) / 30_000, USUAL, atol=0.01)


def test_only_the_sample_is_divided():
    texts = pa.array(["a", "b", "c"] * 200)
    mask = np.random.default_rng(0).random(600) < 0.5
    found = parts_of([texts[:100], texts[100:]], kept=[mask[:100], mask[100:]])
    assert found[mask].tolist() == parts_of([texts.filter(pa.array(mask))]).tolist()
