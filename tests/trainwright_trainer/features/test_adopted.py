"""Statistics with the encoding of another model and the distribution of the own rows."""

from __future__ import annotations

import pytest

from trainwright_trainer.features.adopted import adopted, unseen_line
from trainwright_trainer.features.registry import feature_type

MODEL = "the model of resumeFrom does not know"


def test_a_number_keeps_the_scale_of_the_model_and_has_the_distribution_of_the_rows(run):
    given, own = (run("number", values).statistics for values in ([1.0, 3.0], [10.0, None, 30.0]))
    found = adopted(given, own)
    assert {key: found[key] for key in ("shift", "scale", "fill")} == {
        key: given[key] for key in ("shift", "scale", "fill")
    }
    described = ("rows", "missing", "mean", "std", "min", "max", "histogram")
    assert {key: found[key] for key in described} == {key: own[key] for key in described}


def test_counts_have_the_order_of_the_models_vocabulary(run):
    given = run("category", ["a", "a", "a", "b"]).statistics
    own = run("category", ["b", "c", "b", "a", "b", "d", "c"]).statistics
    found = adopted(given, own)
    assert (found["vocabulary"], found["counts"]) == (["<UNK>", "a", "b"], [3, 1, 3])
    assert feature_type("category", "").facts(found)["most frequent"] == "b"
    assert adopted(given, found) == found


def test_a_target_without_an_unknown_class_has_no_other_values(run):
    given = run("category", ["a", "a", "b"], target=True).statistics
    own = run("category", ["b", "b", "a"], target=True).statistics
    assert adopted(given, own)["counts"] == [1, 2]


@pytest.mark.parametrize(
    ("values", "counts"), [(["no", "yes", "yes"], [1, 2]), ([0, 1, 1, 1], [1, 3]), (["dog", "cat"], [0, 0])]
)
def test_the_labels_of_a_binary_column_are_counted_as_the_model_reads_them(run, values, counts):
    given = run("binary", ["yes", "no", "no"], fallback_true_label=None).statistics
    assert adopted(given, run("binary", values, fallback_true_label=None).statistics)["counts"] == counts


def test_statistics_that_lack_a_round_are_adopted(run):
    given = run("set", ["a b", "b"]).statistics
    assert adopted(given, {}).keys() == given.keys() - {"rows", "missing", "counts"}


def test_one_line_names_the_values_that_the_model_does_not_know(run, feature):
    one = feature("category", False)
    given = run("category", ["a", None, "b"]).statistics
    own = run("category", ["b", "f", "c", "d", "c", "e"]).statistics
    assert unseen_line(one, given, own) == (
        f"column 'x': 4 values that {MODEL} ('c', 'd', 'e', …), 5 times in the training rows: read as unknown"
    )
    assert unseen_line(one, given, given) is None
    assert unseen_line(one, given, adopted(given, own)) is None


@pytest.mark.parametrize("kind", ["set", "bag", "sequence", "text"])
def test_one_line_names_the_tokens_that_the_model_does_not_know(run, feature, kind):
    given, own = (run(kind, values).statistics for values in (["a b", "b"], ["a", "b c"]))
    assert unseen_line(feature(kind, False), given, own) == (
        f"column 'x': 1 token that {MODEL} ('c'), 1 time in the training rows: read as unknown"
    )


@pytest.mark.parametrize("kind", ["number", "vector", "date"])
def test_columns_without_a_vocabulary_have_no_such_line(run, feature, kind):
    values = {"number": [1.0, 2.0], "vector": ["1 2", "3 4"], "date": ["2024-01-01", "2024-01-02"]}[kind]
    found = run(kind, values).statistics
    assert unseen_line(feature(kind, False), found, found) is None
