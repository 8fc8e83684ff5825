"""Changed data in the text of a file: its comments, its quotes and its order are kept."""

from __future__ import annotations

import json
from typing import Any

import pytest

from trainwright_api.paths import Location
from trainwright_api.yaml.nodes import read
from trainwright_api.yaml.rewrite import rewritten

TEXT = """\
# the head
name: "a"  # in quotes
rate: 1e-3
items:
    - {x: 1}
    # before the second
    - y: .5  # half
# the tail
last: [1, 2]
"""


def same(at: Location) -> Location:
    return at


def test_unchanged_data_keep_the_whole_text() -> None:
    assert rewritten(TEXT, read(TEXT).data, same) == (TEXT, True)


def test_a_changed_value_changes_its_line_only() -> None:
    data = read(TEXT).data
    data["items"][1]["y"] = 2
    assert rewritten(TEXT, data, same) == (TEXT.replace(".5 ", "2  "), True)


def test_a_renamed_key_keeps_its_comment() -> None:
    data = {"title" if key == "name" else key: value for key, value in read(TEXT).data.items()}
    text, has_comments = rewritten(TEXT, data, lambda at: ("name", *at[1:]) if at and at[0] == "title" else at)
    assert (text, has_comments) == (TEXT.replace('name: "a" ', 'title: "a"'), True)


def test_a_number_of_another_type_is_a_change() -> None:
    data = read("n: 2.0\nf: {m: 1.0}\n").data
    assert rewritten("n: 2.0\nf: {m: 1.0}\n", {"n": 2, "f": {"m": 1}}, same)[0] == "n: 2\nf: {m: 1}\n"
    assert data == {"n": 2.0, "f": {"m": 1.0}}


@pytest.mark.parametrize(
    "text",
    ["a: &x {b: 1}\nc: *x\n", "a: &x {b: 1}\nc: {<<: *x, d: 2}\n", "a: |\n  two\n  lines\n", "a: 'it''s'\nb: no\n"],
)
def test_what_is_written_is_what_is_read(text: str) -> None:
    data: Any = {**read(text).data, "more": [{"z": None}]}
    found, has_comments = rewritten(text, data, same)
    assert (read(found).data, has_comments) == (data, True)


def test_json_stays_json() -> None:
    found, has_comments = rewritten('{"a": [1, "ö"]}', {"b": [1, "ö"]}, same)
    assert (json.loads(found), has_comments) == ({"b": [1, "ö"]}, True)


def test_a_file_that_cannot_be_kept_loses_its_comments() -> None:
    text = "%YAML 1.1\n---\na: yes  # a word here\nb: 1\n"
    data = {"a": "yes", "c": 1}
    found, has_comments = rewritten(text, data, same)
    assert read(found).data == data
    assert has_comments is ("a word here" in found)
