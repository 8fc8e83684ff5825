"""Set features: tokens, each once in a row, as indices into the vocabulary of the training rows."""

from __future__ import annotations

import pyarrow as pa
import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.features import set as sets
from trainwright_trainer.features.distribution import Frequencies

VALUES = ["red blue red", "blue", None, "green blue", ""]


@pytest.mark.parametrize("block", [1, 2, 100])
def test_a_token_counts_once_in_a_row(run, block):
    found = run("set", VALUES, block=block, missing_value_strategy="drop_row")
    assert found.statistics["vocabulary"] == ["<UNK>", "blue", "green", "red"]
    assert found.statistics["counts"] == [0, 3, 1, 1]
    assert (found.statistics["rows"], found.statistics["missing"]) == (5, 1)
    assert found.values == [[1, 3], [1], None, [1, 2], []]
    assert found.type == pa.large_list(pa.int32())


@pytest.mark.parametrize("block", [1, 2, 100])
def test_a_token_counts_as_often_as_it_occurs_in_a_bag(run, block):
    found = run("bag", VALUES, block=block, missing_value_strategy="drop_row")
    assert found.statistics["vocabulary"] == ["<UNK>", "blue", "red", "green"]
    assert found.statistics["counts"] == [0, 3, 2, 1]
    assert found.values == [[1, 2, 2], [1], None, [1, 3], []]
    assert sets.distribution(found.statistics) == Frequencies([("blue", 3), ("red", 2), ("green", 1)], 6, 0, 0)


@pytest.mark.parametrize(
    ("options", "filled"),
    [
        ({"fill_value": "b a b"}, [1, 1, 2]),
        ({"missing_value_strategy": "fill_with_mode"}, [2, 2]),
        ({"missing_value_strategy": "bfill"}, [1]),
    ],
)
def test_missing_values_of_a_bag(run, options, filled):
    found = run("bag", ["b b", None, "b", "a a", "a a"], **options)
    names = found.statistics["vocabulary"]
    assert sorted(names[code] for code in found.values[1]) == sorted(["<UNK>", "b", "a"][code] for code in filled)


def test_lists_and_texts_are_the_same_column(run):
    lists = pa.array([["red", "blue", "red"], ["blue"], None, ["green", "blue"], []])
    assert run("set", lists) == run("set", VALUES)


@pytest.mark.parametrize("block", [1, 3])
def test_tokens_beyond_the_vocabulary_are_one_unknown_token(run, block):
    values = ["a b c", "a b", "a d", "x y"]
    found = run("set", values, training=[True, True, True, False], block=block, most_common=2)
    assert found.statistics["vocabulary"] == ["<UNK>", "a", "b"]
    assert found.statistics["counts"] == [2, 3, 2]
    assert found.values == [[0, 1, 2], [1, 2], [0, 1], [0]]


@pytest.mark.parametrize("block", [1, 2, 100])
@pytest.mark.parametrize(
    ("options", "first", "second"),
    [
        ({}, [0], [0]),
        ({"fill_value": "b a b"}, [1, 2], [1, 2]),
        ({"fill_value": ""}, [], []),
        ({"missing_value_strategy": "fill_with_mode"}, [1], [1]),
        ({"missing_value_strategy": "ffill"}, [1, 2], [1]),
        ({"missing_value_strategy": "bfill"}, [1], [1]),
        ({"missing_value_strategy": "drop_row"}, None, None),
    ],
)
def test_missing_values(run, options, first, second, block):
    found = run("set", ["b a", None, "a", "a", None], block=block, **options)
    assert found.values == [[1, 2], first, [1], [1], second]


def test_a_fill_value_counts_as_often_as_it_fills(run):
    found = run("set", ["b a", None, "a", "a", None], fill_value="q")
    assert found.statistics["vocabulary"] == ["<UNK>", "a", "q", "b"]
    assert found.values == [[1, 3], [2], [1], [1], [2]]


def test_the_case_counts_unless_it_is_lowered(run):
    assert run("set", ["Red red"]).values == [[1, 2]]
    assert run("set", ["Red red"], lowercase=True).values == [[1]]
    assert run("set", ["Red <UNK>"], lowercase=True).values == [[0, 1]]


def test_a_column_without_tokens_is_refused(run):
    with pytest.raises(Mistakes, match="column 'x' has no token in any training row"):
        run("set", ["", None])


def test_a_tokenizer_that_is_not_built_is_refused(run):
    with pytest.raises(Mistakes, match=r"preprocessing.tokenizer: not built yet: bert \(this version has space, "):
        run("set", ["a"], tokenizer="bert")


def test_the_report_shows_tokens(run):
    statistics = run("set", ["a b", "a", None, "c"], most_common=2, missing_value_strategy="drop_row").statistics
    assert sets.facts(statistics) == {
        "tokens": "2",
        "most frequent": "a",
        "rare, read as unknown": "25 % of all tokens",
        "missing": "25 %",
    }
    assert sets.distribution(statistics) == Frequencies([("a", 2), ("b", 1)], 4, 0, 0)


@pytest.mark.parametrize("block", [1, 100])
def test_rows_with_a_token_more_than_once_are_counted_in_a_set_alone(run, block):
    values = ["red blue red", "blue", None, "green green", "x y"]
    line = "column 'x': rows in which a token stands more than once, and counts once: 2"
    assert run("set", values, block=block).notices == (line,)
    unknown = "column 'x': rows of which all tokens are unknown: 2"
    assert run("set", values, block=block, most_common=1).notices == (line, unknown)
    assert run("bag", values, block=block).notices == ()
