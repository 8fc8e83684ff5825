"""The constraints of Kubernetes' fields: times, keys of mappings, keys of lists."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import TypeAdapter, ValidationError

from trainwright_api.resource.kubernetes import ANNOTATION_KEYS, LABEL_KEYS, PodTemplate
from trainwright_api.resource.metadata import ObjectMeta
from trainwright_api.resource.status import Progress
from trainwright_api.schema.constraints import Keys, Time

TIMES = (
    "2026-05-01T12:00:00Z",
    "2026-05-01T12:00:00.1Z",
    "2026-02-28T23:59:59.123456789+02:00",
    "0001-01-01T00:00:00-11:30",
)
NO_TIMES = (
    *("", "now", "2026-05-01", "2026-05-01T12:00:00", "2026-05-01 12:00:00Z", "2026-05-01t12:00:00z"),
    *("2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z", "2026-05-01T24:00:00Z", "2026-05-01T12:00:60Z"),
    *("0000-01-01T00:00:00Z", "2026-05-01T12:00:00Z\n", "2026-05-01T12:00:00,5Z", "٢026-05-01T12:00:00Z"),
)


@pytest.mark.parametrize("text", TIMES)
def test_a_time_is_read(text: str) -> None:
    assert TypeAdapter(Annotated[str, Time()]).validate_python(text) == text


@pytest.mark.parametrize("text", NO_TIMES)
def test_what_is_no_time_is_reported_so(text: str) -> None:
    with pytest.raises(ValidationError, match=r"expected a time such as 2026-05-01T12:00:00Z, found the text"):
        TypeAdapter(Annotated[str, Time()]).validate_python(text)


@pytest.mark.parametrize(
    ("keys", "good", "bad"),
    [
        (LABEL_KEYS, ["a", "Team_1.x", "example.com/a", f"{'a' * 253}/{'b' * 63}"], ["Example.com/a", "a..b/c"]),
        (ANNOTATION_KEYS, ["a", "Example.COM/a"], ["a..b/c", "é.com/a"]),
        (LABEL_KEYS, [], ["", " ", "-a", "a-", "/a", "a/", "a/b/c", "b" * 64, f"{'a' * 254}/b", "a\n"]),
    ],
)
def test_a_key_is_as_kubernetes_has_them(keys: Keys, good: list[str], bad: list[str]) -> None:
    adapter = TypeAdapter(Annotated[dict[str, str], keys])
    assert adapter.validate_python(dict.fromkeys(good, "x")) == dict.fromkeys(good, "x")
    for key in bad:
        with pytest.raises(ValidationError, match="expected a key"):
            adapter.validate_python({key: "x"})


def test_a_wrong_key_is_reported_at_its_place() -> None:
    with pytest.raises(ValidationError) as caught:
        PodTemplate.model_validate({"resources": {"limits": {"my cpu": 1, "cpu": 1}}})
    assert [(error["loc"], error["msg"]) for error in caught.value.errors()] == [
        (
            ("resources", "limits", "my cpu"),
            "expected a resource's name (as in cpu, or nvidia.com/gpu), found the text 'my cpu'",
        )
    ]


@pytest.mark.parametrize("values", [{"a": None}, {}])
def test_a_null_is_dropped_as_the_api_server_does_it(values: dict[str, Any]) -> None:
    assert PodTemplate.model_validate({"labels": values}).labels == {}
    assert Progress.model_validate({"metrics": values}).metrics == {}


def test_a_null_in_metadata_is_an_empty_text() -> None:
    assert ObjectMeta(name="a", labels={"team": None}, annotations={"note": None}) == ObjectMeta(
        name="a", labels={"team": ""}, annotations={"note": ""}
    )
    with pytest.raises(ValidationError, match="expected a key"):
        ObjectMeta(name="a", labels={"Ä": None})
