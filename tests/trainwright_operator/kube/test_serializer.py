from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from trainwright_api.yaml.nodes import read
from trainwright_operator.kube.serializer import MAX_LEVELS, cut, dumps, loads


def nested(levels: int) -> bytes:
    return b'{"a":' * levels + b"1" + b"}" * levels


def depth(value: Any) -> int:
    found = 0
    while isinstance(value, dict):
        value, found = value["a"], found + 1
    return found


def test_what_python_can_parse_is_taken_whole() -> None:
    assert depth(loads(nested(MAX_LEVELS + 50))) == MAX_LEVELS + 50


@pytest.mark.parametrize("levels", [5_000, 10_000])
def test_what_is_nested_deeper_is_cut_off_and_its_neighbours_stay(levels: int) -> None:
    found = loads(b'{"items": [%b, {"name": "[{\\"]"}]}' % nested(levels))
    assert depth(found["items"][0]) == MAX_LEVELS - 2
    assert found["items"][1] == {"name": '[{"]'}


def test_nothing_else_is_changed() -> None:
    text = json.dumps({"a": [1, {"b": '}{\\"'}], "c": {}}).encode()
    assert cut(text) == text
    assert json.loads(cut(b"[[1],[[2],3],4]", 1)) == [None, None, 4]
    assert json.loads(cut(b'[{"x":[[1]]},"]",[[2],3],4]', 2)) == [{"x": None}, "]", [None, 3], 4]


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(ValueError, match="Expecting"):
        loads(b"nonsense")
    with pytest.raises(ValueError, match="Expecting"):
        loads(b"[" * 5_000)


PLAIN = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF]
TEXTS = {
    f"key {number}": f"{PLAIN[number]} "
    for number in [*range(0x300), *range(0x2000, 0x2100), 0xFFF0 - 0x800, 0x1F600 - 0x800]
}


def test_every_character_is_read_again() -> None:
    text = "".join(PLAIN)
    assert json.loads(dumps({text: text})) == {text: text}


@pytest.mark.parametrize("indent", [None, 2])
def test_as_yaml_too(indent: int | None) -> None:
    assert read(dumps(TEXTS, indent=indent)).data == TEXTS


@pytest.mark.parametrize("text", ["\ud83d", "\ude00\ud83d"])
def test_half_a_character_is_none(text: str) -> None:
    assert json.loads(dumps(text)) == "\ufffd" * len(text)


def test_what_can_be_read_is_left_as_it_is() -> None:
    assert dumps(["😀", "\\ud83d\\ude00", "ä", "\x85"]) == '["😀","\\\\ud83d\\\\ude00","ä","\\u0085"]'
