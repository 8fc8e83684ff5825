"""The JSON of the run folder: strict text, floats that JSON lacks, and files that contain their own checksum."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

_WORDS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_TAG = "$float"
_HEAD = b'{"sha256":"'
_MIDDLE = b'","body":'
_TAIL = b"}\n"
_BODY = len(_HEAD) + 64 + len(_MIDDLE)


class BrokenSeal(Exception):
    """A sealed file has changed since it was written. The message is one line that describes the damage."""


def exact(value: Any) -> bytes:
    """One line of JSON; `parse` restores every float bit for bit. Raises TypeError if `value` is not plain JSON."""
    return _text(_tagged(value), indent=None)


def for_people(value: Any) -> bytes:
    """Indented JSON; a float that JSON lacks becomes null."""
    return _text(_nulled(value), indent=1) + b"\n"


def parse(data: bytes) -> Any:
    """The value that `exact` or `for_people` wrote. Raises ValueError if `data` is not JSON."""
    return json.loads(data, object_hook=_untagged)


def seal(body: Mapping[str, Any]) -> bytes:
    """The bytes of a file that contains `body` and the SHA-256 of `body`'s bytes."""
    text = exact(body)
    return _HEAD + _digest(text) + _MIDDLE + text + _TAIL


def unseal(data: bytes) -> dict[str, Any]:
    """The body of a sealed file. Raises BrokenSeal if a single bit has changed."""
    text = data[_BODY : -len(_TAIL)]
    if data != _HEAD + _digest(text) + _MIDDLE + text + _TAIL:
        raise BrokenSeal("its checksum does not match its content")
    body = parse(text)
    if not isinstance(body, dict):
        raise BrokenSeal("it holds no object")
    return body


def _digest(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest().encode()


def _text(value: Any, *, indent: int | None) -> bytes:
    separators = (",", ":") if indent is None else (",", ": ")
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators).encode()


def _tagged(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return {_TAG: "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"}
    return _children(value, _tagged)


def _nulled(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return _children(value, _nulled)


def _children(value: Any, change: Any) -> Any:
    if isinstance(value, Mapping):
        return {_key(key, alone=len(value) == 1): change(child) for key, child in value.items()}
    if isinstance(value, (list, tuple)):
        return [change(child) for child in value]
    return value


def _key(key: Any, *, alone: bool) -> str:
    # json.dumps turns the key 1 into "1" silently, so that reading returns a different key.
    if not isinstance(key, str):
        raise TypeError(f"the key {key!r} of an object is not text")
    # An object that looks like our tag gets a second dollar sign, which _untagged removes.
    return "$" + key if alone and _looks_like_the_tag(key) else key


def _looks_like_the_tag(key: str) -> bool:
    return key.startswith("$") and key.lstrip("$") == _TAG[1:]


def _untagged(value: dict[str, Any]) -> Any:
    if len(value) != 1:
        return value
    ((key, child),) = value.items()
    if key == _TAG:
        return _WORDS[child]
    return {key[1:]: child} if _looks_like_the_tag(key) else value
