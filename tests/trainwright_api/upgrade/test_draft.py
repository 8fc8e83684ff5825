"""Edits of plain data: what they change, what they say, and where a value comes from."""

from __future__ import annotations

from typing import Any

from trainwright_api.upgrade.draft import Draft


def draft(**data: Any) -> Draft:
    return Draft(data, {})


def test_the_data_of_the_file_stay_as_they_are() -> None:
    data: dict[str, Any] = {"a": {"old": [{"x": 1}]}}
    copy = Draft(data, {})
    copy.rename(("a",), "old", "new")
    copy.section(("a", "new", 0))["x"] = 2
    assert data == {"a": {"old": [{"x": 1}]}}


def test_a_value_that_two_aliases_share_is_edited_once_for_each() -> None:
    shared = {"old": 1}
    copy = draft(a=shared, b=shared)
    copy.rename(("a",), "old", "new")
    assert copy.data == {"a": {"new": 1}, "b": {"old": 1}}


def test_a_renamed_key_keeps_its_place() -> None:
    copy = draft(a={"x": 1, "old": 2, "y": 3})
    copy.rename(("a",), "old", "new")
    assert list(copy.data["a"]) == ["x", "new", "y"]


def test_an_origin_is_found_through_several_moves() -> None:
    copy = draft(a={"old": {"rate": 1, "list": [{"z": 1}]}})
    copy.rename(("a", "old"), "rate", "speed")
    copy.rename(("a",), "old", "new")
    copy.move(("a", "new", "speed"), ("b", "deep", "speed"))
    assert copy.data == {"a": {"new": {"list": [{"z": 1}]}}, "b": {"deep": {"speed": 1}}}
    assert copy.origin(("b", "deep", "speed")) == ("a", "old", "rate")
    assert copy.origin(("a", "new", "list", 0, "z")) == ("a", "old", "list", 0, "z")
    assert copy.origin(("c",)) == ("c",)


def test_both_spellings_are_one_mistake() -> None:
    copy = draft(a={"old": 1, "new": 2})
    copy.rename(("a",), "old", "new")
    assert [str(problem) for problem in copy.problems] == [
        "a.old: the old spelling of new, which is given too: keep new"
    ]
    assert copy.data == {"a": {"new": 2}}


def test_a_value_stays_where_no_section_can_hold_it() -> None:
    copy = draft(a={"old": 1}, b=3)
    copy.move(("a", "old"), ("b", "new"))
    copy.put(("b", "new"), 1, ("a",))
    assert (copy.data, list(copy.notices())) == ({"a": {"old": 1}, "b": 3}, [])


def test_a_value_stays_where_a_list_is_in_the_place_of_a_section() -> None:
    copy = draft(a={"old": 1}, b=[{"c": [1]}])
    copy.move(("a", "old"), ("b", "new"))
    copy.move(("a", "old"), ("b", 0, "c", "new"))
    assert copy.data == {"a": {"old": 1}, "b": [{"c": [1]}]}
    copy.move(("a", "old"), ("b", 0, "d", "new"))
    assert copy.data == {"a": {}, "b": [{"c": [1], "d": {"new": 1}}]}


def test_the_same_change_in_several_items_is_one_line() -> None:
    copy = draft(items=[{"old": 1}, {}, {"old": 2}, 5], other={"old": 3})
    for at in copy.sections(("items",)):
        copy.rename(at, "old", "new")
    copy.drop(("other", "old"), " is dropped")
    assert list(copy.notices()) == ["items[0].old is read as new (2 times)", "other.old is dropped"]


def test_a_word_becomes_a_section() -> None:
    copy = draft(a={"encoder": "dense", "other": 1})
    copy.as_section(("a", "encoder"))
    copy.as_section(("a", "other"))
    assert copy.data == {"a": {"encoder": {"type": "dense"}, "other": 1}}
    assert copy.origin(("a", "encoder", "type")) == ("a", "encoder")
