"""Number features: read strictly, described by the training rows, scaled and filled as Ludwig's options say."""

from __future__ import annotations

import math
import statistics as oracle
import sys
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainwright_api.problems import Mistakes
from trainwright_trainer.features import moments, number
from trainwright_trainer.features.distribution import Histogram

VALUES = [1.0, 2.0, None, 4.0, 8.0, None, 3.0]
PRESENT = [1.0, 2.0, 4.0, 8.0, 3.0]


def close(found, expected):
    return all(
        (a is None and b is None)
        or (a is not None and b is not None and math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-6))
        for a, b in zip(found, expected, strict=True)
    )


def test_statistics_are_of_what_is_there(run):
    found = run("number", VALUES).statistics
    assert (found["rows"], found["missing"]) == (7, 2)
    assert math.isclose(found["mean"], oracle.mean(PRESENT))
    assert math.isclose(found["std"], oracle.pstdev(PRESENT))
    assert (found["min"], found["max"], found["fill"]) == (1.0, 8.0, 0.0)
    assert sum(found["histogram"]["counts"]) == 5
    assert len(found["histogram"]["edges"]) == 21


def test_statistics_come_from_training_rows_alone(run):
    training = [True, True, True, False, True, True, False]
    changed = [1.0, 2.0, None, -777.0, 8.0, None, 999.0]
    assert run("number", VALUES, training=training).statistics == run("number", changed, training=training).statistics


@pytest.mark.parametrize("block", [1, 2, 3, 100])
@pytest.mark.parametrize(
    ("normalization", "scaled"),
    [
        ("zscore", lambda x: (x - oracle.mean(PRESENT)) / oracle.pstdev(PRESENT)),
        ("minmax", lambda x: (x - 1) / 7),
        ("log1p", math.log1p),
        ("iq", lambda x: (x - np.percentile(PRESENT, 50)) / (np.percentile(PRESENT, 75) - np.percentile(PRESENT, 25))),
        (None, lambda x: x),
        ("none", lambda x: x),
    ],
)
def test_normalisation(run, normalization, scaled, block):
    found = run("number", VALUES, normalization=normalization, block=block)
    assert close(found.values, [scaled(0.0 if value is None else value) for value in VALUES])
    assert found.type == pa.float32()


@pytest.mark.parametrize(
    ("options", "filled"),
    [
        ({"missing_value_strategy": "fill_with_const", "fill_value": 5.5}, [1, 2, 5.5, 4, 8, 5.5, 2]),
        ({"missing_value_strategy": "fill_with_mean"}, [1, 2, 3.4, 4, 8, 3.4, 2]),
        ({"missing_value_strategy": "fill_with_mode"}, [1, 2, 2, 4, 8, 2, 2]),
        ({"missing_value_strategy": "ffill"}, [1, 2, 2, 4, 8, 8, 2]),
        ({"missing_value_strategy": "bfill"}, [1, 2, 4, 4, 8, 2, 2]),
        ({"missing_value_strategy": "drop_row"}, [1, 2, None, 4, 8, None, 2]),
    ],
)
@pytest.mark.parametrize("block", [1, 2, 3, 100])
def test_missing_values(run, options, filled, block):
    values = [1.0, 2.0, None, 4.0, 8.0, None, 2.0]
    found = run("number", values, normalization=None, block=block, **options)
    assert close(found.values, filled)
    assert bool(found.notices) == (None in filled)


def test_a_gap_at_the_end_is_filled_from_the_other_side(run):
    values = [None, None, 5.0, 6.0, None]
    assert run("number", values, normalization=None, missing_value_strategy="ffill", block=2).values == [5, 5, 5, 6, 6]
    assert run("number", values, normalization=None, missing_value_strategy="bfill", block=2).values == [5, 5, 5, 6, 6]


def test_nan_is_missing(run):
    found = run("number", [1.0, float("nan"), 3.0], normalization=None, missing_value_strategy="drop_row")
    assert found.values == [1.0, None, 3.0]
    assert found.statistics["missing"] == 1


@pytest.mark.parametrize("block", [2, 5, 100])
@pytest.mark.parametrize(
    ("strategy", "filled"),
    [
        ("fill_with_const", 7.0),
        ("fill_with_mean", oracle.mean([1.0, 2.0, 3.0, 2.0] * 4)),
        ("fill_with_mode", 2.0),
        ("ffill", 2.0),
        ("bfill", 1.0),
        ("drop_row", None),
    ],
)
def test_outliers_are_taken_out_and_filled(run, strategy, filled, block):
    calm = [1.0, 2.0, 3.0, 2.0] * 2
    values = [*calm, 1000.0, *calm]
    found = run(
        "number",
        values,
        normalization=None,
        outlier_strategy=strategy,
        outlier_threshold=2.0,
        fill_value=7.0,
        block=block,
    )
    assert close(found.values, [*calm, filled, *calm])
    assert found.statistics["outliers"]["count"] == 1
    assert math.isclose(found.statistics["mean"], 2.0)
    assert found.statistics["max"] == 3.0
    high = oracle.mean(values) + 2 * oracle.pstdev(values)
    assert math.isclose(found.statistics["outliers"]["high"], high)


def test_the_threshold_acts(run):
    values = [1.0, 2.0, 3.0] * 5 + [6.0]
    strict = run("number", values, normalization=None, outlier_strategy="drop_row", outlier_threshold=2.0)
    loose = run("number", values, normalization=None, outlier_strategy="drop_row", outlier_threshold=5.0)
    assert (strict.values.count(None), loose.values.count(None)) == (1, 0)


@pytest.mark.parametrize(("normalization", "outlier"), [("log1p", -5000.0), (None, 1e40), ("log1p", 1e300)])
def test_an_outlier_that_the_scaling_refuses_is_filled(run, normalization, outlier):
    values = [*map(float, range(40)), outlier]
    training = [*[True] * 40, False]
    options = {"outlier_strategy": "fill_with_mean", "outlier_threshold": 3.0}
    found = run("number", values, training=training, normalization=normalization, **options)
    expected = math.log1p(19.5) if normalization else 19.5
    assert math.isclose(found.values[-1], expected, rel_tol=1e-6)


def test_missing_values_and_outliers_keep_their_own_strategies(run):
    values = [1.0, 2.0, None, 2.0, 1.0, 2.0, 1.0, 900.0, 1.0, 2.0]
    options = {"missing_value_strategy": "ffill", "outlier_strategy": "drop_row", "outlier_threshold": 2.0}
    assert run("number", values, normalization=None, **options).values == [1, 2, 2, 2, 1, 2, 1, None, 1, 2]
    options = {"missing_value_strategy": "drop_row", "outlier_strategy": "bfill", "outlier_threshold": 2.0}
    assert run("number", values, normalization=None, **options).values == [1, 2, None, 2, 1, 2, 1, 1, 1, 2]


@pytest.mark.parametrize("normalization", ["zscore", "minmax", "iq"])
def test_a_constant_column_is_scaled_to_zero(run, normalization):
    found = run("number", [3.0, 3.0, 3.0], normalization=normalization)
    assert found.values == [0.0, 0.0, 0.0]
    assert found.statistics["scale"] == 1.0


@pytest.mark.parametrize("value", [0.1, 2.7, 19.99])
def test_a_constant_has_no_spread_whatever_the_rounding_of_its_mean(run, value):
    for block in (3, 1000):
        found = run("number", [value] * 300, normalization="zscore", block=block)
        assert (found.statistics["mean"], found.statistics["std"], found.statistics["scale"]) == (value, 0.0, 1.0)


@pytest.mark.parametrize(
    "values",
    [
        pa.array([1, 2, None, 4], pa.int64()),
        pa.array([1, 2, None, 4], pa.uint8()),
        pa.array([1, 2, None, 4], pa.float32()),
        pa.array([Decimal(1), Decimal(2), None, Decimal(4)]),
        pa.array(["1", " 2.0 ", "NA", "+4e0"]),
        pa.array(["1", "2", "", "4"], pa.large_string()),
        pa.array(["1", "2", None, "4"]).dictionary_encode(),
    ],
)
def test_all_kinds_of_numbers_are_read(run, values):
    assert run("number", values, normalization=None, missing_value_strategy="drop_row").values == [1, 2, None, 4]


def test_booleans_are_numbers(run):
    assert run("number", [True, False, None], normalization=None).values == [1.0, 0.0, 0.0]


def test_text_is_named_with_its_row(run):
    with pytest.raises(Mistakes) as mistakes:
        run("number", ["1", "2", "3", "4", "N14228", "x"])
    assert str(mistakes.value) == (
        "config.input_features[0]: column 'x' is text from row 5 on ('N14228'), the feature is a number. "
        "If the text stands for a missing value, add it to datasetOptions.naValues; "
        "else use type category, or missing_value_strategy drop_row. (Row 1 is the first row of data.)"
    )


def test_a_decimal_comma_has_its_remedy(run):
    with pytest.raises(Mistakes) as mistakes:
        run("number", ["1", "2,5", "x"])
    assert "column 'x' has a number with a comma in row 2 ('2,5')" in str(mistakes.value)
    assert 'datasetOptions: {decimal: ","}' in str(mistakes.value)


@pytest.mark.parametrize("value", ["12%", "$5", "1 000", "1\u00a0000", "\u22121", "1'000.5", "1,000.50"])
def test_a_number_that_people_write_is_named_as_one(run, value):
    for is_target in (False, True):
        with pytest.raises(Mistakes, match="has a number with a sign or a separator in row 3"):
            run("number", ["1", "2", value], target=is_target)


@pytest.mark.parametrize("value", ["1,000,000", "2,5"])
def test_commas_are_named(run, value):
    with pytest.raises(Mistakes, match="has a number with a comma in row 2"):
        run("number", ["1", value])


def test_with_drop_row_text_is_missing(run):
    found = run("number", ["1", "b", "3", None, "inf"], normalization=None, missing_value_strategy="drop_row")
    assert found.values == [1.0, None, 3.0, None, None]
    assert found.notices == (
        "column 'x': values that are no number: 2; they count as missing",
        "column 'x': rows left out by drop_row: 3",
    )


def test_infinity_is_named_with_its_row(run):
    with pytest.raises(Mistakes, match="'x' is infinite from row 4 on"):
        run("number", [1.0, 2.0, 3.0, float("-inf")])
    dropped = run("number", [1.0, 2.0, float("inf")], normalization=None, missing_value_strategy="drop_row")
    assert dropped.values == [1.0, 2.0, None]


@pytest.mark.parametrize(
    ("values", "options", "line"),
    [
        ([0.5, -1.0], {"normalization": "log1p"}, "log1p needs values above -1"),
        ([0.5, 1.0], {"normalization": "log1p", "fill_value": -2.0}, "cannot be filled with -2"),
        ([None, None], {}, "has no number in any training row"),
        ([1e300, -1e300], {}, "too large"),
        ([1e39, 1.0], {"normalization": None}, "too large for a 32-bit float"),
    ],
)
def test_what_cannot_be_scaled_is_reported(run, values, options, line):
    with pytest.raises(Mistakes, match=line):
        run("number", pa.array(values, pa.float64()), **options)


def test_log1p_names_the_row_of_another_part(run):
    with pytest.raises(Mistakes, match=r"holds -5\.0 in row 3, and log1p"):
        run("number", [0.5, 1.0, -5.0], training=[True, True, False], normalization="log1p")


def test_lists_are_no_numbers(run):
    with pytest.raises(Mistakes, match="column 'x' holds lists, the feature is a number"):
        run("number", [[1.0], [2.0]])


@pytest.mark.parametrize("option", ["computed_fill_value", "computed_outlier_fill_value"])
def test_what_is_computed_cannot_be_set(feature, option):
    with pytest.raises(Mistakes, match=rf"config.input_features\[0\].preprocessing.{option}: not built yet: 3.0"):
        feature("number", **{option: 3.0})


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=50), st.integers(1, 20))
def test_merged_blocks_agree_with_the_whole(values, block):
    array = np.array(values)
    states = [
        moments.observe(part, len(part), 0, True, True)
        for part in (array[start : start + block] for start in range(0, len(array), block))
    ]
    found = moments.merge(states)
    assert math.isclose(found.mean, array.mean(), rel_tol=1e-9, abs_tol=1e-6)
    assert math.isclose(found.std, array.std(), rel_tol=1e-6, abs_tol=1e-5)
    assert (found.minimum, found.maximum, found.count) == (array.min(), array.max(), len(values))
    assert found.quartiles() == np.percentile(array, [25, 50, 75]).tolist()
    assert found.mode() == min(set(values), key=lambda value: (-values.count(value), value))


@pytest.mark.parametrize("normalization", ["zscore", "minmax", "log1p", "iq", None])
def test_decoding_undoes_encoding(run, normalization):
    found = run("number", PRESENT, normalization=normalization)
    assert np.allclose(number.decode(np.array(found.values, np.float32), found.statistics), PRESENT, rtol=1e-6)


def test_a_logarithm_too_large_for_a_float_is_infinite(run):
    """Without a warning of numpy, which every test takes for an error."""
    found = run("number", [1.0, 2.0, 3.0], normalization="log1p")
    assert number.decode(np.array([800.0], np.float32), found.statistics).tolist() == [math.inf]


def test_the_report_reads_facts_and_a_histogram(run):
    found = run("number", VALUES).statistics
    assert number.facts(found) == {"mean": "3.6", "std": "2.41661", "min": "1", "max": "8", "missing": "28.6 %"}
    assert number.distribution(found) == Histogram("1", "8", found["histogram"]["counts"])
    assert len(found["histogram"]["counts"]) == 20
    assert sum(found["histogram"]["counts"]) == 5


def test_the_histogram_of_a_constant_has_one_bar(run):
    counts = run("number", [2.0, 2.0]).statistics["histogram"]["counts"]
    assert sorted(counts)[-2:] == [0, 2]


@pytest.mark.parametrize("normalization", ["zscore", "minmax", "log1p", "iq", None])
def test_the_statistics_of_a_target_show_how_it_is_encoded(run, normalization):
    found = run("number", [1.0, 2.0, 4.0, 8.0, 300.0], target=True, normalization=normalization)
    encoded = np.array(found.values)
    assert math.isclose(found.statistics["encoded"]["mean"], encoded.mean(), rel_tol=1e-5, abs_tol=1e-6)
    assert math.isclose(found.statistics["encoded"]["std"], encoded.std(), rel_tol=1e-5)


@pytest.mark.parametrize("block", [1, 2, 100])
def test_words_for_a_missing_value_count_as_missing(run, block):
    found = run("number", ["1", "?", "-", " NA ", None, "5"], block=block, normalization=None)
    assert found.values == [1.0, 0.0, 0.0, 0.0, 0.0, 5.0]
    assert (found.statistics["missing"], found.statistics["mean"]) == (4, 3.0)


def test_words_and_texts_that_cannot_be_read_are_counted_apart(run):
    found = run("number", ["1", "?", "x", None], missing_value_strategy="drop_row")
    assert found.values[1:] == [None, None, None]
    assert found.notices == (
        "column 'x': values that are no number: 1; they count as missing",
        "column 'x': rows left out by drop_row: 3",
    )


@pytest.mark.parametrize("target", [True, False])
def test_numbers_of_which_float32_keeps_few_digits_are_named(run, target):
    seconds = [1.7e9 + 900.0 * step for step in range(9)]
    found = run("number", seconds, target=target, normalization=None)
    assert found.notices == (
        "column 'x': numbers around 1.7e+09 that vary by 2.32e+03; a 32-bit float holds them in steps of 128; "
        "config.input_features[0].preprocessing.normalization: zscore keeps their digits",
    )
    for kept in ("zscore", "minmax"):
        assert run("number", seconds, target=target, normalization=kept).notices == ()
    assert run("number", [1.7e9 + 1e6 * step for step in range(9)], normalization=None).notices == ()
    assert run("number", [1.7e9] * 9, normalization=None).notices == ()


@pytest.mark.parametrize("value", [1.7976931330646228e308, sys.float_info.max, -sys.float_info.max, 0.0])
def test_the_histogram_of_one_value_has_finite_edges(value):
    edges = moments.edges(value, value)
    assert np.isfinite(edges).all()
    assert (np.diff(edges) > 0).all()
    assert moments.histogram(np.array([value]), value, value).sum() == 1
