"""Rows of JSON lines and JSON arrays."""

from __future__ import annotations

import gzip
import json

import pytest

from trainwright_trainer.data import source
from trainwright_trainer.data.files import find

from .reading import ROWS, mistake_of, read


@pytest.mark.parametrize("name", ["x.jsonl", "x.ndjson", "x.json", "x.jsonl.gz"])
def test_json_lines(text, name):
    lines = "\n".join(json.dumps({"n": n, "t": t, "other": [1]}) for n, t in ROWS) + "\n"
    content = gzip.compress(lines.encode()) if name.endswith("gz") else lines
    assert read(text(content, name)) == {"n": [1, 2, 3, None], "t": [row[1] for row in ROWS]}


def test_a_json_array(text):
    rows = [{"n": n, "t": t} for n, t in ROWS]
    for content in (json.dumps(rows), "\ufeff\n" + json.dumps(rows, indent=2)):
        assert read(text(content, "x.json")) == {"n": [1, 2, 3, None], "t": [row[1] for row in ROWS]}
    assert read(text(gzip.compress(json.dumps(rows).encode()), "x.json.gz"))["n"] == [1, 2, 3, None]


def test_json_text_that_looks_like_a_time_stays_text(text):
    lines = '{"t": "2024-01-01", "n": 1}\n{"t": "2024-01-02 03:04:05", "n": 2.5}\n'
    assert read(text(lines, "x.jsonl")) == {"t": ["2024-01-01", "2024-01-02 03:04:05"], "n": [1.0, 2.5]}


@pytest.mark.parametrize("name", ["x.jsonl", "x.json"])
def test_json_text_that_looks_like_a_time_stays_text_at_any_depth(text, name):
    row = {"l": ["2024-01-01"], "d": {"t": "2024-01-02", "n": 1, "z": None}, "o": [[{"t": "2024-01-03", "n": [1.5]}]]}
    rows = [json.dumps(row), '{"l": [], "d": null}']
    content = "\n".join(rows) if name == "x.jsonl" else f"[{', '.join(rows)}]"
    assert read(text(content, name), ["l", "d.t", "d.n", "d.z", "o"]) == {
        "l": [["2024-01-01"], []],
        "d.t": ["2024-01-02", None],
        "d.n": [1, None],
        "d.z": [None, None],
        "o": [row["o"], None],
    }


def test_a_json_column_of_mixed_types_becomes_text(text):
    lines = '{"t": "a", "n": 1}\n\n{"t": 2.5, "n": "b"}\n{"t": true}\n'
    assert read(text(lines, "x.jsonl")) == {"t": ["a", "2.5", "true"], "n": ["1", "b", None]}


@pytest.mark.parametrize("name", ["x.jsonl", "x.json"])
@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ("18446744073709551616", "1", [2.0**64, 1.0]),
        ("[[18446744073709551616]]", "[null, [1]]", [[[2.0**64]], [None, [1.0]]]),
        ('[{"k": 18446744073709551616}]', "[]", [[{"k": 2.0**64}], []]),
        ("9007199254740993", "0.5", [2.0**53, 0.5]),
        ("18446744073709551616", '"a"', ["18446744073709551616", "a"]),
        ("9" * 400, '"a"', ["9" * 400, "a"]),
        ("1", "true", ["1", "true"]),
        ("18446744073709551616", "true", ["18446744073709551616", "true"]),
        ("9" * 400, "1", [float("inf"), 1.0]),
    ],
)
def test_large_whole_numbers_of_json_are_floats(text, name, one, two, expected):
    rows = [f'{{"n": {one}}}', f'{{"n": {two}}}']
    content = "\n".join(rows) if name == "x.jsonl" else f"[{', '.join(rows)}]"
    assert read(text(content, name), ["n"]) == {"n": expected}


@pytest.mark.parametrize("row", [r'{"n": "\ud800", "t": "a"}', r'{"n": ["\ud800"]}', r'{"\ud800": 1}'])
@pytest.mark.parametrize("name", ["x.jsonl", "x.json"])
def test_half_a_character_of_json_is_one_line(text, name, row):
    path = text(row if name == "x.jsonl" else f"[{row}]", name)
    line = r"has '\ud800', which is half of a character. Remove it, or write both halves, as in \ud83d\ude00."
    assert mistake_of(path) == f"dataset: {name!r} {line}"


def test_a_key_that_a_file_of_json_lacks_is_missing(text, tmp_path):
    text('{"x": 1, "h": "e"}\n', "folder/a.jsonl")
    text('{"x": 2, "g": {"k": "f"}}\n{"x": 3}\n', "folder/b.jsonl")
    text('[{"x": 4}]', "folder/c.json")
    text('{"x": 5, "g": {"k": "i"}}\n', "folder/d.jsonl")
    assert read(tmp_path / "folder", ["x", "g.k", "h"]) == {
        "x": [1, 2, 3, 4, 5],
        "g.k": [None, "f", None, None, "i"],
        "h": ["e", None, None, None, None],
    }
    assert source.columns_of(find(str(tmp_path / "folder"))) == ["x", "h", "g.k"]
    line = "config.input_features[0].column: 'hh' is not in folder. Nearest: 'h'."
    assert mistake_of(tmp_path / "folder", ["hh", "x"]) == line


def test_lists_of_json_that_differ_are_named(text, tmp_path):
    text('{"n": ["a"]}\n', "many/a.jsonl")
    text('{"n": []}\n', "many/b.jsonl")
    text('{"n": [1]}\n', "many/c.jsonl")
    assert "a list of 'n' holds numbers, but text in 'a.jsonl'" in mistake_of(tmp_path / "many", ["n"])


@pytest.mark.parametrize("form", ["{}\n", "[{}]"])
def test_a_key_that_stands_flat_and_nested_is_named(text, form):
    path = text(form.format(json.dumps({"a": {"x": 1}, "a.x": 2})), "x.json")
    assert "'a.x' is the name of 2 columns of x.json" in mistake_of(path, ["a.x"])
