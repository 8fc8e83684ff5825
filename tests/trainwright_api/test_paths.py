"""Paths as people write them, in the order of the file."""

from __future__ import annotations

import pytest

from trainwright_api.paths import Location, dotted, place

DATA = {"b": [{"x": 1, "y": 2}, {"x": 3}], "a": {"z": 1}}


@pytest.mark.parametrize(
    ("location", "path"),
    [
        ((), ""),
        (("spec",), "spec"),
        (("spec", "config", "input_features", 3, "type"), "config.input_features[3].type"),
        (("metadata", "name"), "metadata.name"),
        ((0, "a"), "[0].a"),
    ],
)
def test_a_path_is_written_without_spec(location: Location, path: str) -> None:
    assert dotted(location) == path


def test_places_sort_as_the_file_has_them() -> None:
    in_order: list[Location] = [
        ("b",),
        ("b", 0, "x"),
        ("b", 0, "y"),
        ("b", 0, "missing"),
        ("b", 1),
        ("a", "z"),
        ("missing", "deep"),
    ]
    shuffled = [*in_order[3:], *in_order[:3]]
    assert sorted(shuffled, key=lambda at: place(at, DATA)) == in_order
