"""Tokens of texts and lists. The oracles are Ludwig's own regular expressions, where a tokenizer has one."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainwright_api.checks import support
from trainwright_trainer.features.errors import WrongTypeError
from trainwright_trainer.features.tokens import ONLY_UNKNOWN, TOKENIZERS, rows_of_unknown, tokens_of

ORACLES = {
    "space": lambda text: re.split(r"\s+", text.strip()),
    "space_punct": lambda text: re.findall(r"\w+|[^\w\s]", text.strip()),
    "characters": list,
    "underscore": lambda text: re.split(r"\s*_\s*", text.strip()),
    "comma": lambda text: re.split(r"\s*,\s*", text.strip()),
    "untokenized": lambda text: [text],
    "stripped": lambda text: [text.strip()],
}
TEXT = st.text(st.sampled_from("aé漢😀 _,.!\t1"), max_size=8)


def test_each_tokenizer_that_the_contract_calls_built_is_here() -> None:
    assert set(support.TOKENIZERS) == set(TOKENIZERS) == set(ORACLES)


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@given(texts=st.lists(TEXT | st.none(), min_size=1, max_size=6), skipped=st.integers(0, 2))
def test_texts_are_cut_as_ludwig_cuts_them(tokenizer: str, texts: list[str | None], skipped: int) -> None:
    found = tokens_of(pa.array(texts, pa.string())[skipped:], tokenizer, lowercase=False)
    cut = [None if text is None else [token for token in ORACLES[tokenizer](text) if token] for text in texts]
    assert found.to_pylist() == cut[skipped:]


@pytest.mark.parametrize(
    "values",
    [
        pa.array([["A", "b"], [], None, ["c", None, ""]]),
        pa.array([["A", "b"], [], None, ["c"]], pa.large_list(pa.string())),
        pa.array(["A b", "", None, "c"]).dictionary_encode(),
    ],
)
def test_lists_are_taken_as_they_are(values: pa.Array) -> None:
    assert tokens_of(values, "space", lowercase=False).to_pylist() == [["A", "b"], [], None, ["c"]]
    assert tokens_of(values[1:], "space", lowercase=True).to_pylist() == [[], None, ["c"]]
    assert tokens_of(values, "space", lowercase=True).to_pylist()[0] == ["a", "b"]


def test_numbers_have_the_texts_that_they_have_elsewhere() -> None:
    assert tokens_of(pa.array([[1.0, 2.5]]), "space", lowercase=False).to_pylist() == [["1", "2.5"]]
    assert tokens_of(pa.array([3, None]), "space", lowercase=False).to_pylist() == [["3"], None]


@pytest.mark.parametrize("values", [pa.array([{"a": 1}]), pa.array([[[1]]]), pa.array([b"x"])])
def test_other_columns_have_no_tokens(values: pa.Array) -> None:
    with pytest.raises(WrongTypeError, match="no tokens"):
        tokens_of(values, "space", lowercase=False)


@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        ([[1, 2], [3], []], {}),
        ([[0, 2], [0, 0], [], [0], [4, 0]], {ONLY_UNKNOWN: 2}),
        ([], {}),
    ],
)
def test_rows_of_unknown_tokens_alone_are_counted(rows, lines):
    codes = np.array([code for row in rows for code in row], np.int32)
    offsets = np.cumsum([0, *map(len, rows)])
    assert rows_of_unknown(codes, offsets) == lines
