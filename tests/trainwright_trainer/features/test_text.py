"""Text and sequence features: tokens in their order, as indices into the vocabulary of the training rows."""

from __future__ import annotations

import pyarrow as pa
import pytest

from trainwright_api.config import preprocessing as sections
from trainwright_api.config.preprocessing.text import SequencePreprocessing, TextPreprocessing
from trainwright_api.problems import Mistakes
from trainwright_trainer.features import text
from trainwright_trainer.features.distribution import Frequencies
from trainwright_trainer.features.errors import WrongTypeError

VALUES = ["red blue red", "blue", None, "green blue", ""]


@pytest.fixture(autouse=True)
def sections_of_texts(monkeypatch):
    monkeypatch.setattr(sections, "TextPreprocessing", TextPreprocessing, raising=False)
    monkeypatch.setattr(sections, "SequencePreprocessing", SequencePreprocessing, raising=False)


@pytest.mark.parametrize("kind", ["text", "sequence"])
@pytest.mark.parametrize("block", [1, 2, 100])
def test_tokens_keep_their_order_and_number(run, kind, block):
    found = run(kind, VALUES, block=block, missing_value_strategy="drop_row")
    assert found.statistics["vocabulary"] == ["<UNK>", "blue", "red", "green"]
    assert found.statistics["counts"] == [0, 3, 2, 1]
    assert (found.statistics["rows"], found.statistics["missing"], found.statistics["longest"]) == (5, 1, 3)
    assert found.values == [[2, 1, 2], [1], None, [3, 1], []]
    assert found.type == pa.large_list(pa.int32())


def test_a_text_has_marks_as_tokens_and_a_sequence_has_not(run):
    assert run("text", ["a, b"]).statistics["vocabulary"] == ["<UNK>", ",", "a", "b"]
    assert run("sequence", ["a, b"]).statistics["vocabulary"] == ["<UNK>", "a,", "b"]


@pytest.mark.parametrize("block", [1, 3])
def test_the_most_common_tokens_are_kept_and_ties_go_by_the_alphabet(run, block):
    found = run("text", ["c a b", "a z", "b c", "z"], training=[True, True, True, False], block=block, most_common=2)
    assert found.statistics["vocabulary"] == ["<UNK>", "a", "b"]
    assert found.statistics["counts"] == [3, 2, 2]
    assert found.values == [[0, 1, 2], [1, 0], [2, 0], [0]]


@pytest.mark.parametrize(
    ("options", "length", "values"),
    [
        ({"max_sequence_length": 2}, 2, [[1, 2], [2], [1, 2], []]),
        ({"max_sequence_length": 2, "sequence_length": 5}, 2, [[1, 2], [2], [1, 2], []]),
        ({"sequence_length": 5}, 5, [[1, 2, 2], [2], [1, 2, 0, 0, 0], []]),
        ({}, 3, [[1, 2, 2], [2], [1, 2, 0], []]),
    ],
)
def test_a_row_keeps_its_first_tokens(run, options, length, values):
    found = run("text", ["a b b", "b", "a b c d e", ""], training=[True, True, False, True], **options)
    vocabulary = {"<UNK>": 0, **{word: at for at, word in enumerate(found.statistics["vocabulary"]) if at}}
    assert found.statistics["length"] == length
    names = {1: "a", 2: "b", 0: "<UNK>"}
    assert found.values == [[vocabulary[names[code]] for code in row] for row in values]


def test_lowercase_leaves_the_symbols(run):
    found = run("sequence", ["A <PAD> <UNK>", "a b"], lowercase=True)
    assert found.statistics["vocabulary"] == ["<UNK>", "a", "b"]
    assert found.values == [[1, 0], [1, 2]]


def test_truncated_rows_are_counted_in_one_line(run):
    found = run("text", ["a b c", "a", "a b", "b c a"], max_sequence_length=2, block=1)
    assert found.notices == ("column 'x': rows of more than 2 tokens, whose other tokens are left out: 2",)
    assert run("text", ["a b c", "a"]).notices == ()


@pytest.mark.parametrize("kind", ["text", "sequence"])
def test_rows_without_a_token_are_counted_and_missing_ones_are_not(run, kind):
    assert run(kind, ["a", "", None, "  ", "b"], block=2).notices == ("column 'x': rows without a token: 2",)


@pytest.mark.parametrize("block", [1, 2, 100])
@pytest.mark.parametrize(
    ("options", "first", "second"),
    [
        ({}, [0], [0]),
        ({"fill_value": "b a b"}, ["b", "a", "b"], ["b", "a", "b"]),
        ({"fill_value": ""}, [], []),
        ({"missing_value_strategy": "fill_with_mode"}, ["a"], ["a"]),
        ({"missing_value_strategy": "ffill"}, ["b", "a"], ["a"]),
        ({"missing_value_strategy": "bfill"}, ["a"], ["a"]),
        ({"missing_value_strategy": "drop_row"}, None, None),
    ],
)
def test_missing_values(run, options, first, second, block):
    found = run("text", ["b a", None, "a", "a", None], block=block, **options)
    words = found.statistics["vocabulary"]
    rows = [None if row is None else [words[code] if code else 0 for code in row] for row in found.values]
    assert rows == [["b", "a"], first, ["a"], ["a"], second]


def test_tokens_equal_to_the_padding_are_left_out(run):
    assert run("text", ["a <x> b <x>"], tokenizer="space", padding_symbol="<x>").values == [[1, 2]]


def test_the_unknown_symbol_is_the_first_token(run):
    found = run("text", ["q a", None], tokenizer="space", unknown_symbol="q")
    assert found.statistics["vocabulary"] == ["q", "a"]
    assert found.values == [[0, 1], [0]]


def test_lists_of_tokens_are_taken_as_they_are(run):
    lists = pa.array([["red", "blue", "red"], ["blue"], None, ["green", "blue"], []])
    assert run("sequence", lists) == run("sequence", VALUES)


def test_a_pretrained_tokenizer_refuses_lists_of_tokens(feature):
    """It read the first token of each row alone."""
    found = feature("text", tokenizer="hf_tokenizer", pretrained_model_name_or_path="bert")
    with pytest.raises(WrongTypeError, match="holds lists, and a pretrained tokenizer reads texts"):
        text.clean(found, pa.array([["red", "blue"]]), 0)


def test_a_column_without_tokens_is_refused(run):
    with pytest.raises(Mistakes, match="column 'x' has no token in any training row"):
        run("text", ["", None])


@pytest.mark.parametrize("word", ["english_tokenize", "bert", "ngram"])
def test_a_tokenizer_that_is_not_built_is_refused(run, word):
    with pytest.raises(Mistakes, match=rf"preprocessing.tokenizer: not built yet: {word} \(this version has space, "):
        run("text", ["a"], tokenizer=word)


def test_the_report_shows_tokens(run):
    statistics = run("text", ["a b a", "a", None, "c"], most_common=2, missing_value_strategy="drop_row").statistics
    assert text.facts(statistics) == {
        "tokens": "2",
        "longest": "3 tokens",
        "most frequent": "a",
        "rare, read as unknown": "20 % of all tokens",
        "missing": "25 %",
    }
    assert text.distribution(statistics) == Frequencies([("a", 3), ("b", 1)], 5, 0, 0)
