"""Names, labels and annotations, as the API server judges them."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from trainwright_api.resource.metadata import ObjectMeta

GOOD: tuple[dict[str, Any], ...] = (
    {"name": "a.b-9"},
    {"generateName": "nightly-"},
    {"generateName": "a--"},
    {"generateName": "a" * 253 + "-"},
    {"name": "a", "generateName": "a.-"},
    {"name": "a", "labels": {f"a{number}": "" for number in range(500)}},
    {"name": "a", "annotations": {"a": "x" * (2**18 - 1)}},
)
BAD: tuple[tuple[dict[str, Any], str, str], ...] = (
    ({"generateName": "a.-"}, "generateName", "the beginning of a name .* found the text 'a.-'"),
    ({"generateName": "A-"}, "generateName", "the beginning of a name"),
    ({"generateName": "a" * 254}, "generateName", "the beginning of a name"),
    ({"name": "a", "labels": {"my team": "x"}}, "labels", "expected a key"),
    ({"name": "a", "labels": {"team": "a b"}}, "labels", "match pattern"),
    ({"name": "a", "annotations": {"a": "ä" * 2**17}}, "annotations", "at most 262144 bytes in all, found 262145"),
)


@pytest.mark.parametrize("written", GOOD, ids=lambda written: str(written)[:40])
def test_metadata_that_the_api_server_takes(written: dict[str, Any]) -> None:
    assert ObjectMeta.model_validate(written).model_dump(exclude_unset=True, by_alias=True) == written


@pytest.mark.parametrize(("written", "key", "words"), BAD, ids=lambda part: str(part)[:40])
def test_metadata_that_it_refuses(written: dict[str, Any], key: str, words: str) -> None:
    with pytest.raises(ValidationError, match=words) as caught:
        ObjectMeta.model_validate(written)
    assert caught.value.errors()[0]["loc"][0] == key


@pytest.mark.parametrize("key", ["name", "generateName", "namespace"])
def test_an_empty_name_is_no_name(key: str) -> None:
    assert ObjectMeta.model_validate({key: ""}) == ObjectMeta()
