"""Any column, as any feature type, is either read or refused with one line. No other error occurs."""

from __future__ import annotations

import json
from datetime import date, datetime

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trainwright_api.problems import Mistakes
from trainwright_trainer.features.registry import FEATURES, feature_type

ELEMENTS = {
    pa.float64(): st.floats(),
    pa.float32(): st.floats(width=32),
    pa.float16(): st.floats(width=16),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.uint8(): st.integers(0, 255),
    pa.bool_(): st.booleans(),
    pa.string(): st.one_of(st.text(max_size=5), st.sampled_from(["1", "2", "NA", "yes", "no", "2024-01-01", "1 2"])),
    pa.large_string(): st.sampled_from(["a", "b", ""]),
    pa.timestamp("ns"): st.datetimes(datetime(1700, 1, 1), datetime(2200, 1, 1)),
    pa.timestamp("us", "UTC"): st.datetimes(datetime(1700, 1, 1), datetime(2200, 1, 1)),
    pa.date32(): st.dates(date(1, 1, 1), date(9999, 12, 31)),
    pa.time32("s"): st.just(0),
    pa.binary(): st.one_of(st.binary(max_size=3), st.sampled_from([b"1", b"yes", b"2024-01-01", b"1 2"])),
    pa.list_(pa.binary()): st.lists(st.binary(max_size=2), max_size=2),
    pa.decimal128(10, 2): st.decimals(-1000, 1000, places=2),
    pa.list_(pa.float64()): st.lists(st.floats(width=32), max_size=3),
    pa.list_(pa.string()): st.lists(st.sampled_from(["1", "x"]), max_size=2),
    pa.list_(pa.float32(), 2): st.lists(st.floats(width=32), min_size=2, max_size=2),
    pa.struct({"a": pa.int64()}): st.just({"a": 1}),
    pa.null(): st.none(),
}
STRATEGIES = {
    "number": ["fill_with_const", "fill_with_mean", "fill_with_mode", "ffill", "bfill", "drop_row"],
    "binary": ["fill_with_mode", "ffill", "bfill", "drop_row", "fill_with_false", "fill_with_true"],
    "category": ["fill_with_const", "fill_with_mode", "ffill", "bfill", "drop_row"],
    "date": ["fill_with_const", "ffill", "bfill", "drop_row"],
    "vector": ["fill_with_const", "fill_with_mode", "ffill", "bfill", "drop_row"],
    "set": ["fill_with_const", "fill_with_mode", "ffill", "bfill", "drop_row"],
    "bag": ["fill_with_const", "fill_with_mode", "ffill", "bfill", "drop_row"],
    "sequence": ["fill_with_const", "fill_with_mode", "ffill", "bfill", "drop_row"],
    "text": ["fill_with_const", "fill_with_mode", "ffill", "bfill", "drop_row"],
}


# An image is read from a file: test_image.py.
@pytest.mark.parametrize("kind", [kind for kind in FEATURES if kind != "image"])
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_any_column_is_read_or_refused(run, kind, data):
    type_ = data.draw(st.sampled_from(list(ELEMENTS)))
    values = data.draw(st.lists(st.one_of(st.none(), ELEMENTS[type_]), min_size=1, max_size=12))
    array = pa.array(values, type_)
    if pa.types.is_string(type_) and data.draw(st.booleans()):
        array = array.dictionary_encode()
    training = data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
    options = {"missing_value_strategy": data.draw(st.sampled_from(STRATEGIES[kind]))}
    if kind == "number":
        options["normalization"] = data.draw(st.sampled_from(["zscore", "minmax", "log1p", "iq", None]))
        options["outlier_strategy"] = data.draw(st.sampled_from([None, *STRATEGIES[kind]]))
    target = kind not in ("date", "bag") and data.draw(st.booleans())
    try:
        found = run(kind, array, training=training, block=data.draw(st.integers(1, 5)), target=target, **options)
    except Mistakes as mistakes:
        refusal = str(mistakes)
    else:
        refusal = None
    if refusal is not None:
        assert "\n" not in refusal
        assert "column 'x'" in refusal
        return
    module = feature_type(kind, "config.input_features[0]")
    assert json.loads(json.dumps(found.statistics, allow_nan=False)) == found.statistics
    assert all(isinstance(fact, str) for fact in module.facts(found.statistics).values())
    assert len(found.values) == len(values)
    if options["missing_value_strategy"] != "drop_row" and options.get("outlier_strategy") != "drop_row" and not target:
        assert None not in found.values
    flat = [
        number
        for value in found.values
        if value is not None
        for number in (value if isinstance(value, list) else [value])
    ]
    assert all(number == number and abs(number) != float("inf") for number in flat)
