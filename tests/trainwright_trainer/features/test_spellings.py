"""A value that is not in a vocabulary under its own spelling is found under another one."""

from __future__ import annotations

import pyarrow as pa
import pytest

from trainwright_trainer.features.adopted import adopted, unseen_line
from trainwright_trainer.features.registry import feature_type
from trainwright_trainer.features.spellings import indices_in


@pytest.mark.parametrize(
    ("vocabulary", "text", "index"),
    [
        (["<UNK>", "True", "False"], "true", 1),
        (["<UNK>", "true", "false"], "FALSE", 2),
        (["<UNK>", "1.0", "2.50"], "1", 1),
        (["<UNK>", "1.0", "2.50"], "2.5", 2),
        (["<UNK>", "1", "-2.5", "10"], "-2.500", 2),
        (["<UNK>", "1", "-2.5", "10"], "10.0", 3),
        (["<UNK>", "1.0", "1"], "1", 2),
        (["<UNK>", "TRUE", "True"], "true", 1),
        (["<UNK>", "0.10000000149011612"], "0.1", 1),
        (["<UNK>", "0.1"], "0.10000000149011612", 1),
        (["<UNK>", "0.1"], "0.10000000149011613", None),
        (["<UNK>", "2024-01-02 03:04:05.000000"], "2024-01-02 03:04:05", 1),
        (["<UNK>", "2024-01-02 03:04:05.5Z"], "2024-01-02 03:04:05.500000Z", 1),
        (["<UNK>", "2024-01-02 03:04:05.5"], "2024-01-02 03:04:05.55", None),
        (["<UNK>", "1", "True", "1e5"], "100000", None),
        (["<UNK>", "7", "yes"], "007", None),
        (["<UNK>", "7", "yes"], "Yes", None),
        (["<UNK>", "10"], "1", None),
        (["<UNK>", "10"], None, None),
    ],
)
def test_the_same_value_is_found_in_another_spelling(vocabulary, text, index):
    assert indices_in(pa.array([text, "10"], pa.string()), vocabulary)[0].as_py() == index


@pytest.mark.parametrize(
    ("written", "typed"), [(["True", "False", "True"], [True, False, True]), (["1.0", "2.5", "2.0"], [1.0, 2.5, 2.0])]
)
@pytest.mark.parametrize("kind", ["category", "set", "sequence"])
@pytest.mark.parametrize("turned", [False, True])
def test_a_table_is_encoded_alike_from_csv_and_from_typed_columns(run, feature, kind, written, typed, turned):
    trained, served = (typed, written) if turned else (written, typed)
    found = run(kind, trained)
    module, one = feature_type(kind, ""), feature(kind)
    encoded = module.encode(one, module.clean(one, pa.array(served), 0).values, found.statistics, 0)
    assert encoded.values.to_pylist() == found.values
    assert encoded.unknown_categories == 0


def test_the_labels_of_a_binary_column_are_found_in_another_spelling(run, feature):
    found = run("binary", ["1.0", "2.0", "1.0"])
    module, one = feature_type("binary", ""), feature("binary")
    encoded = module.encode(one, module.clean(one, pa.array([1.0, 2.0, 1.0]), 0).values, found.statistics, 0)
    assert (encoded.values.to_pylist(), encoded.unknown) == (found.values, 0)


def test_the_values_of_another_model_are_counted_as_they_are_read(run, feature):
    given, own = run("category", ["True", "False", "True"]).statistics, run("category", [True, False, None]).statistics
    assert adopted(given, own)["counts"] == [1, 1, 1]
    assert unseen_line(feature("category"), given, own) is None
