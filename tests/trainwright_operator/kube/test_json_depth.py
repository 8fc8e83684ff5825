from __future__ import annotations

import json
from typing import Any

import pytest

from trainwright_operator.kube.json_depth import LEVELS, cut, loads


def nested(levels: int) -> bytes:
    return b'{"a":' * levels + b"1" + b"}" * levels


def depth(value: Any) -> int:
    found = 0
    while isinstance(value, dict):
        value, found = value["a"], found + 1
    return found


def test_what_python_can_parse_is_taken_whole() -> None:
    assert depth(loads(nested(LEVELS + 50))) == LEVELS + 50


@pytest.mark.parametrize("levels", [5_000, 10_000])
def test_what_is_nested_deeper_is_cut_off_and_its_neighbours_stay(levels: int) -> None:
    found = loads(b'{"items": [%b, {"name": "[{\\"]"}]}' % nested(levels))
    assert depth(found["items"][0]) == LEVELS - 2
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
