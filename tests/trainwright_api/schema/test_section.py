"""A section is strict, frozen, and names all of its mistakes at once, each where it stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import pytest
from pydantic import Field, ValidationError
from pydantic_core import InitErrorDetails

from trainwright_api.schema.section import MOST_UNKNOWN, KubernetesSection, Section, relation, shown, unknown_word


class Inner(Section):
    """Fields of every kind."""

    number: float = 1.0
    count: int = 1
    flag: bool = False
    text: str = "a"
    word: Literal["left", "right"] = "left"

    def mistakes(self) -> Iterator[InitErrorDetails]:
        if self.number == self.count == 7:
            yield relation("number and count {braces} may not both be 7", "count", found=7)


class Outer(KubernetesSection):
    """A section with a section, in camelCase."""

    inner_part: Inner = Field(default_factory=Inner)
    how_many: int = 1

    def mistakes(self) -> Iterator[InitErrorDetails]:
        if self.how_many == 7:
            yield relation("7 is too many", "howMany", found=7)


def mistakes_of(section: type[Section], value: Any) -> list[tuple[str, str]]:
    """Path and kind of each mistake."""
    with pytest.raises(ValidationError) as caught:
        section.model_validate(value)
    return [(".".join(map(str, line["loc"])), line["type"]) for line in caught.value.errors()]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("number", "3"),
        ("number", True),
        ("number", float("nan")),
        ("number", float("inf")),
        ("number", None),
        ("count", "3"),
        ("count", 3.0),
        ("count", False),
        ("flag", 1),
        ("flag", "true"),
        ("text", 3),
        ("word", "up"),
    ],
)
def test_no_value_changes_its_kind(field: str, value: Any) -> None:
    assert [path for path, _ in mistakes_of(Inner, {field: value})] == [field]


def test_a_whole_number_may_stand_for_a_float() -> None:
    section = Inner.model_validate({"number": 3})
    assert section.number == 3.0
    assert isinstance(section.number, float)


def test_a_section_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        Inner().count = 3  # type: ignore[misc]


def test_all_mistakes_are_named_at_once() -> None:
    value = {"innerPart": {"number": "3", "wrod": 1, "word": "up"}, "howMani": 2, "howMany": 0.5}
    assert mistakes_of(Outer, value) == [
        ("innerPart.number", "float_type"),
        ("innerPart.word", "literal_error"),
        ("innerPart.wrod", "unknown_key"),
        ("howMany", "int_type"),
        ("howMani", "unknown_key"),
    ]


def test_an_unknown_key_names_the_nearest_one() -> None:
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate({"howMani": 2})
    line = caught.value.errors()[0]
    assert line["msg"] == "unknown key: did you mean 'howMany'?"
    assert line["ctx"]["expected"] == ["innerPart", "howMany"]


def test_an_unknown_key_that_resembles_none_names_them_all() -> None:
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate({"{found}": 2})
    assert caught.value.errors()[0]["msg"] == "unknown key: known here: innerPart, howMany"


def test_relations_are_named_beside_unknown_keys() -> None:
    value = {"innerPart": {"number": 7, "count": 7}, "howMany": 7, "x": 1}
    assert mistakes_of(Outer, value) == [("innerPart.count", "relation"), ("x", "unknown_key")]
    assert mistakes_of(Outer, {"howMany": 7, "x": 1}) == [("x", "unknown_key"), ("howMany", "relation")]


def test_the_sentence_of_a_relation_is_left_as_it_is() -> None:
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate({"innerPart": {"number": 7, "count": 7}})
    assert caught.value.errors()[0]["msg"] == "number and count {braces} may not both be 7"


def test_null_is_absence_in_the_fields_of_kubernetes() -> None:
    assert Outer.model_validate({"innerPart": None}) == Outer.model_validate({})
    assert mistakes_of(Outer, {"unknown": None}) == [("unknown", "unknown_key")]


@pytest.mark.parametrize("value", [3, "a", True, [1]])
def test_only_keys_and_values_make_a_section(value: Any) -> None:
    assert mistakes_of(Outer, {"innerPart": value}) == [("innerPart", "section_type")]


def test_what_is_absent_stays_absent() -> None:
    section = Outer.model_validate({"innerPart": {"count": 2}})
    assert section.model_dump(exclude_unset=True) == {"innerPart": {"count": 2}}


def test_a_kubernetes_section_is_read_by_both_names_and_written_in_camel_case() -> None:
    assert Outer.model_validate({"how_many": 2}) == Outer.model_validate({"howMany": 2})
    assert Outer(how_many=2).model_dump() == {"innerPart": Inner().model_dump(), "howMany": 2}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "nothing (null)"),
        (True, "true (yes or no)"),
        (3, "the number 3"),
        ("a", "the text 'a'"),
        ([1], "a list"),
        ({"a": 1}, "keys and values"),
    ],
)
def test_a_value_is_shown_as_a_reader_of_yaml_calls_it(value: Any, text: str) -> None:
    assert shown(value) == text


def test_an_unknown_word_names_the_nearest_or_all() -> None:
    assert unknown_word("colour", "gren", ["green", "red"]).message() == "'gren' is no colour: did you mean 'green'?"
    assert unknown_word("colour", "x", ["green", "red"]).message() == "'x' is no colour: expected one of green, red"


def test_of_thousands_of_unknown_keys_the_first_are_listed_and_the_others_counted() -> None:
    with pytest.raises(ValidationError) as caught:
        Inner.model_validate({f"key-{number}": 1 for number in range(5_000)})
    found = caught.value.errors()
    assert len(found) == MOST_UNKNOWN + 1
    assert found[0]["loc"] == ("key-0",)
    assert (found[-1]["loc"], found[-1]["msg"]) == ((), "5,000 unknown keys, of which the first 100 are listed")
