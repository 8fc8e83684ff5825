from __future__ import annotations

import json
import sys

import pytest

from trainwright_api.yaml.nodes import read
from trainwright_operator.kube.json_text import dumps

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
