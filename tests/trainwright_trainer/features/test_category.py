"""Category features: a vocabulary of the training rows, in descending order of count."""

from __future__ import annotations

import pyarrow as pa
import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.features import category
from trainwright_trainer.features.distribution import Frequencies

VALUES = ["b", "a", "c", "b", None, "a", "b", "d"]


def test_the_vocabulary_is_by_falling_count_then_text(run):
    found = run("category", VALUES)
    assert found.statistics["vocabulary"] == ["<UNK>", "b", "a", "c", "d"]
    assert found.statistics["counts"] == [1, 3, 2, 1, 1]
    assert found.values == [1, 2, 3, 1, 0, 2, 1, 4]
    assert found.type == pa.int32()


@pytest.mark.parametrize("block", [1, 2, 100])
def test_blocks_do_not_matter(run, block):
    assert run("category", VALUES, block=block) == run("category", VALUES)


def test_training_rows_alone_make_the_vocabulary(run):
    found = run("category", VALUES, training=[True, True, True, False, False, True, False, False])
    assert found.statistics["vocabulary"] == ["<UNK>", "a", "b", "c"]
    assert found.values == [2, 1, 3, 2, 0, 1, 2, 0]


def test_rare_classes_are_unknown_past_most_common(run):
    found = run("category", VALUES, most_common=2)
    assert found.statistics["vocabulary"] == ["<UNK>", "b", "a"]
    assert found.statistics["counts"] == [3, 3, 2]
    assert found.values == [1, 2, 0, 1, 0, 2, 1, 0]


def test_lowercase_joins_classes(run):
    found = run("category", ["A", "a", "B"], lowercase=True)
    assert found.statistics["vocabulary"] == ["<UNK>", "a", "b"]
    assert run("category", ["A", "a", "B"]).statistics["vocabulary"] == ["<UNK>", "A", "B", "a"]


@pytest.mark.parametrize(("fill", "codes", "classes"), [("Other", [2, 1, 1], 3), ("<UNK>", [1, 0, 2], 3)])
def test_lowercase_acts_on_the_fill_value(run, fill, codes, classes):
    options = {"missing_value_strategy": "fill_with_const", "fill_value": fill, "lowercase": True}
    found = run("category", ["A", None, "other"], **options)
    assert (found.values, len(found.statistics["vocabulary"])) == (codes, classes)


def test_lowercase_leaves_the_symbol_of_unknown_values(run):
    found = run("category", ["A", "<UNK>", "a"], lowercase=True)
    assert (found.values, found.statistics["vocabulary"]) == ([1, 0, 1], ["<UNK>", "a"])


@pytest.mark.parametrize("block", [1, 3, 100])
@pytest.mark.parametrize(
    ("options", "filled"),
    [
        ({"missing_value_strategy": "fill_with_const", "fill_value": "a"}, "a"),
        ({"missing_value_strategy": "fill_with_const", "fill_value": "none"}, "none"),
        ({"missing_value_strategy": "fill_with_mode"}, "b"),
        ({"missing_value_strategy": "ffill"}, "b"),
        ({"missing_value_strategy": "bfill"}, "a"),
        ({"missing_value_strategy": "drop_row"}, None),
    ],
)
def test_missing_values(run, options, filled, block):
    found = run("category", VALUES, block=block, **options)
    texts = [None if code is None else found.statistics["vocabulary"][code] for code in found.values]
    assert texts == [filled if value is None else value for value in VALUES]


def test_a_target_has_no_unknown_class(run):
    found = run("category", VALUES, target=True)
    assert found.statistics["vocabulary"] == ["b", "a", "c", "d"]
    assert found.values == [0, 1, 2, 0, None, 1, 0, 3]
    assert found.notices == ("column 'x': rows left out by drop_row: 1",)


def test_a_target_has_an_unknown_class_where_classes_are_cut_off(run):
    found = run("category", VALUES, target=True, most_common=2)
    assert found.statistics["vocabulary"] == ["<UNK>", "b", "a"]
    assert found.statistics["counts"] == [2, 3, 2]
    assert found.values == [1, 2, 0, 1, None, 2, 1, 0]


def test_a_label_that_no_training_row_has_is_dropped(run):
    found = run("category", VALUES, target=True, training=[True] * 7 + [False], missing_value_strategy="ffill")
    assert found.values == [0, 1, 2, 0, 0, 1, 0, None]
    assert found.notices == ("column 'x': values that no training row has: 1; their rows are left out",)


def test_a_target_filled_with_a_new_class_has_that_class(run):
    found = run("category", VALUES, target=True, missing_value_strategy="fill_with_const", fill_value="none")
    assert found.statistics["vocabulary"] == ["b", "a", "c", "d", "none"]
    assert found.values[4] == 4


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (pa.array([3, 10, None]), ["10", "3"]),
        (pa.array([3.0, 10.0, None]), ["10", "3"]),
        (pa.array([2.5, float("nan"), 1e300]), ["10000", "2.5"]),
        (pa.array([True, False, None]), ["false", "true"]),
        (pa.array(["a", "b", None]).dictionary_encode(), ["a", "b"]),
        (pa.array(["a", "b", None], pa.large_string()), ["a", "b"]),
    ],
)
def test_any_type_has_a_text(run, values, texts):
    found = run("category", values)
    assert [text[:5] for text in found.statistics["vocabulary"][1:]] == texts
    assert found.statistics["missing"] == 1


@pytest.mark.parametrize(
    ("values", "target", "line"),
    [
        (["a", "a", None], True, r"has one value \('a'\) in the training rows; a target needs two or more"),
        (pa.nulls(3, pa.string()), False, "has no value in any training row"),
        ([[1], [2]], False, "holds lists"),
    ],
)
def test_what_cannot_be_read_is_reported(run, values, target, line):
    with pytest.raises(Mistakes, match=rf"column 'x' {line}"):
        run("category", values, target=target)


@pytest.mark.parametrize(("option", "value"), [("computed_fill_value", "a"), ("cache_encoder_embeddings", True)])
def test_what_is_not_built_says_so(feature, option, value):
    with pytest.raises(Mistakes, match=f"preprocessing.{option}: not built yet"):
        feature("category", **{option: value})


def test_the_report_reads_facts_and_frequencies(run):
    found = run("category", VALUES).statistics
    assert category.facts(found) == {"classes": "4", "most frequent": "b", "missing": "12.5 %"}
    assert category.distribution(found) == Frequencies([("b", 3), ("a", 2), ("c", 1), ("d", 1)], rows=8)


def test_the_report_shows_neither_rare_nor_missing_values_as_a_class(run):
    found = run("category", VALUES, most_common=2).statistics
    assert category.facts(found) == {
        "classes": "2",
        "most frequent": "b",
        "rare, read as unknown": "25 %",
        "missing": "12.5 %",
    }
    assert category.distribution(found) == Frequencies([("b", 3), ("a", 2)], rows=8)


def test_the_report_is_given_the_most_frequent_classes_of_many(run):
    found = category.distribution(run("category", [f"{row:02}" for row in [*range(40), 39, 39, 38]]).statistics)
    assert len(found.values) == 20
    assert found.values[:3] == [("39", 3), ("38", 2), ("00", 1)]
    assert (found.rows, found.more_values, found.more_rows) == (43, 20, 20)
