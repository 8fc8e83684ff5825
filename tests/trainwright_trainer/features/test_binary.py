"""Binary features: two labels, written as any two words."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.features import binary
from trainwright_trainer.features.distribution import Frequencies


@pytest.mark.parametrize(
    ("values", "true", "false"),
    [
        ([True, False, True], "true", "false"),
        (["yes", "no", "yes"], "yes", "no"),
        (["T", "F", "T"], "T", "F"),
        ([1, 0, 1], "1", "0"),
        ([1.0, 0.0, 1.0], "1", "0"),
        ([Decimal("1.00"), Decimal("0.00"), Decimal("1.00")], "1", "0"),
        ([1, -1, 1], "1", "-1"),
        (pa.array(["True", "False", "True"]).dictionary_encode(), "True", "False"),
    ],
)
def test_usual_words_need_no_help(run, values, true, false):
    found = run("binary", values, fallback_true_label=None)
    assert found.values == [1.0, 0.0, 1.0]
    assert (found.statistics["true"], found.statistics["false"]) == (true, false)
    assert found.statistics["counts"] == [1, 2]
    assert found.notices == ()
    assert found.type == pa.float32()


def test_of_other_words_the_first_is_true_and_a_notice_says_so(run):
    found = run("binary", ["dog", "cat", "dog"])
    assert found.values == [0.0, 1.0, 0.0]
    assert found.notices == (
        "column 'x': 'cat' is read as true and 'dog' the other; "
        "config.input_features[0].preprocessing.fallback_true_label: 'dog' reverses them",
    )
    target = run("binary", ["dog", "cat", "dog"], target=True)
    assert target.notices[0].startswith("column 'x': 'cat' is the positive value and 'dog' the other; config.")


@pytest.mark.parametrize("labels", ["12", "02", "fm", "np", ("no", "unknown")])
def test_of_a_word_for_true_or_false_beside_another_word_the_first_is_true_too(run, labels):
    one, other = labels
    found = run("binary", [one, other, None], fill_value=one, missing_value_strategy="fill_with_true")
    assert found.values == [1.0, 0.0, 1.0]
    assert found.notices[0].startswith(f"column 'x': {one!r} is read as true and {other!r} the other; ")


@pytest.mark.parametrize(
    ("values", "label"),
    [
        ([True, False, True], "False"),
        ([1, 0, 1], "0"),
        (["yes", "no", "yes"], "no"),
        (["Yes", "no", "yes"], "No"),
    ],
)
def test_the_fallback_label_reverses_usual_words_too(run, values, label):
    plain, training = run("binary", values, training=[False, True, True]), [False, True, True]
    found = run("binary", values, training=training, fallback_true_label=label)
    assert (plain.values, found.values) == ([1.0, 0.0, 1.0], [0.0, 1.0, 0.0])
    assert found.statistics["true"] == plain.statistics["false"]
    assert found.statistics["false"] == plain.statistics["true"]
    assert run("binary", values, training=training, fallback_true_label="other").values == plain.values


def test_the_fallback_label_names_the_true_one(run):
    found = run("binary", ["dog", "cat", "dog"], fallback_true_label="dog")
    assert found.values == [1.0, 0.0, 1.0]
    assert found.notices == ()


@pytest.mark.parametrize("block", [1, 2, 100])
@pytest.mark.parametrize(
    ("options", "filled"),
    [
        ({}, 0.0),
        ({"missing_value_strategy": "fill_with_false"}, 0.0),
        ({"missing_value_strategy": "fill_with_true"}, 1.0),
        ({"missing_value_strategy": "fill_with_mode"}, 1.0),
        ({"missing_value_strategy": "ffill"}, 0.0),
        ({"missing_value_strategy": "bfill"}, 1.0),
        ({"missing_value_strategy": "drop_row"}, None),
        ({"fill_value": 0.25}, 0.25),
        ({"fill_value": "yes"}, 1.0),
        ({"fill_value": True}, 1.0),
    ],
)
@pytest.mark.parametrize("values", [[True, False, None, True], ["yes", "no", None, "yes"]])
def test_missing_values(run, values, options, filled, block):
    assert run("binary", values, block=block, **options).values == [1.0, 0.0, filled, 1.0]


def test_a_fill_value_is_a_label_where_the_positive_one_is_no(run):
    options = {"fallback_true_label": "No", "missing_value_strategy": "fill_with_true"}
    assert run("binary", ["Yes", "No", None], fill_value="No", **options).values == [0.0, 1.0, 1.0]
    assert run("binary", ["Yes", "No", None], fill_value="yes", **options).values == [0.0, 1.0, 0.0]


def test_a_target_with_a_missing_value_is_dropped(run):
    found = run("binary", [True, None, False], target=True)
    assert found.values == [1.0, None, 0.0]
    assert found.notices == ("column 'x': rows left out by drop_row: 1",)


def test_a_label_that_no_training_row_has(run):
    values, training = ["dog", "cat", "cow", "dog"], [True, True, False, True]
    assert run("binary", values, training=training, missing_value_strategy="fill_with_true").values == [0, 1, 1, 0]
    target = run("binary", values, training=training, target=True)
    assert target.values == [0.0, 1.0, None, 0.0]
    assert "values that no training row has: 1" in target.notices[1]


def test_an_input_with_one_usual_word_knows_the_other(run):
    found = run("binary", ["no", "no", "yes"], training=[True, True, False])
    assert found.values == [0.0, 0.0, 1.0]
    assert (found.statistics["true"], found.statistics["false"]) == ("yes", "no")


@pytest.mark.parametrize(
    ("values", "options", "line"),
    [
        (["a", "b", "c"], {}, r"has 3 values \('a', 'b', 'c'\), the feature is binary. Use type category."),
        ([1, 2, 3, 4], {}, r"has 4 values \('1', '2', '3', …\)"),
        ([True, True], {"target": True}, "has one value .* a target needs two"),
        (pa.nulls(2), {}, "has no value in any training row"),
        (["a", "b"], {"fallback_true_label": "c"}, "fallback_true_label 'c' is none of its values"),
    ],
)
def test_what_cannot_be_read_is_reported(run, values, options, line):
    with pytest.raises(Mistakes, match=f"column 'x' .*{line}"):
        run("binary", values, block=100, **options)


def test_what_is_computed_cannot_be_set(feature):
    with pytest.raises(Mistakes, match=r"computed_fill_value: not built yet"):
        feature("binary", computed_fill_value=True)


def test_the_report_reads_facts_and_frequencies(run):
    found = run("binary", [True, False, None, True, True]).statistics
    assert binary.facts(found) == {"true": "true", "false": "false", "missing": "20 %"}
    assert binary.distribution(found) == Frequencies([("true", 3), ("false", 1)], rows=4)
