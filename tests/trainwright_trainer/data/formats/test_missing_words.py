from __future__ import annotations

import pyarrow as pa

from trainwright_trainer.data.formats.missing_words import without_na_values


def test_missing_words_are_found_in_bytes():
    table = pa.table({"x": pa.array([b"a", b"unknown"]), "y": pa.array(["unknown", "b"])})
    assert without_na_values(table, ["unknown"]).to_pydict() == {"x": [b"a", None], "y": [None, "b"]}
