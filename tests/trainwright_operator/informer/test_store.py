from __future__ import annotations

import random
from typing import Any

import pytest

from trainwright_operator.informer import store as store_module
from trainwright_operator.informer.store import Key, Store, key_of, version_of
from trainwright_operator.model.observed import Manifest

from ..api_server import config_map

A, B = ("team", "a"), ("team", "b")
Change = tuple[str, str | None, str | None]


class Seen:
    """A store of the values of objects, and the changes that it reported."""

    def __init__(self) -> None:
        self.notified: list[Change] = []
        self.store: Store[str] = Store(read, lambda value: value.partition(":")[0], self._tell)

    def _tell(self, key: Key, old: str | None, new: str | None) -> None:
        self.notified.append((key[1], old, new))

    def put(self, *arguments: Any, **more: Any) -> None:
        self.store.put(config_map(*arguments, **more))

    def remove(self, *arguments: Any, **more: Any) -> None:
        self.store.remove(config_map(*arguments, **more))

    def replace(self, version: int, *objects: Manifest, namespace: str | None = None) -> None:
        self.store.replace(namespace, self.store.listed(objects), version)

    @property
    def values(self) -> dict[str, str]:
        return {name: value for (_, name), value in self.store.items()}


def read(raw: Manifest) -> str | None:
    value = raw["data"]["value"]
    if value.startswith("rubbish"):
        raise ValueError(value)
    return None if value.startswith("foreign") else value


def test_events_make_the_store() -> None:
    seen = Seen()
    seen.put("a", 1)
    seen.put("b", 2)
    seen.put("a", 3)
    seen.remove("b", 4)
    assert seen.values == {"a": "a@3"}
    assert seen.notified == [("a", None, "a@1"), ("b", None, "b@2"), ("a", "a@1", "a@3"), ("b", "b@2", None)]


@pytest.mark.parametrize("version", [3, 2, 1])
def test_an_event_that_comes_late_or_twice_changes_nothing(version: int) -> None:
    seen = Seen()
    seen.put("a", 3)
    seen.notified.clear()
    seen.put("a", version, value="late")
    assert (seen.values, seen.notified) == ({"a": "a@3"}, [])


def test_a_late_event_does_not_bring_back_what_was_deleted() -> None:
    seen = Seen()
    seen.put("a", 1)
    seen.remove("a", 3)
    seen.put("a", 2)
    assert seen.values == {}


def test_a_deletion_that_overtook_the_creation_still_counts() -> None:
    seen = Seen()
    seen.remove("a", 3)
    seen.put("a", 1)
    assert (seen.values, seen.notified) == ({}, [])


def test_a_late_deletion_does_not_delete_what_was_made_anew() -> None:
    seen = Seen()
    seen.put("a", 1, "first")
    seen.put("a", 5, "second")
    seen.remove("a", 3, "first")
    assert seen.values == {"a": "a@5"}


def test_an_object_made_anew_under_its_name_is_reported_even_where_it_looks_the_same() -> None:
    seen = Seen()
    seen.put("a", 1, "first", value="same")
    seen.put("a", 5, "second", value="same")
    assert seen.notified == [("a", None, "same"), ("a", "same", "same")]


def test_a_change_of_what_is_not_kept_is_not_reported() -> None:
    seen = Seen()
    seen.put("a", 1, value="same")
    seen.put("a", 2, value="same")
    assert len(seen.notified) == 1
    seen.put("a", 1, value="late")
    assert seen.values == {"a": "same"}


def test_a_list_adds_changes_and_takes_away() -> None:
    seen = Seen()
    seen.put("a", 1)
    seen.put("b", 2)
    seen.notified.clear()
    seen.replace(9, config_map("a", 5), config_map("c", 6))
    assert seen.values == {"a": "a@5", "c": "c@6"}
    assert seen.notified == [("a", "a@1", "a@5"), ("c", None, "c@6"), ("b", "b@2", None)]


def test_what_was_written_while_the_list_came_stays() -> None:
    seen = Seen()
    listed = seen.store.listed([config_map("a", 5)])
    seen.put("a", 12)
    seen.put("new", 11)
    seen.store.replace(None, listed, 9)
    assert seen.values == {"a": "a@12", "new": "new@11"}


def test_what_was_deleted_while_the_list_came_stays_away() -> None:
    seen = Seen()
    listed = seen.store.listed([config_map("a", 5)])
    seen.remove("a", 12)
    seen.store.replace(None, listed, 9)
    assert seen.values == {}


def test_events_from_before_the_list_say_nothing_new() -> None:
    seen = Seen()
    seen.replace(9, config_map("a", 5))
    seen.put("gone", 7)
    seen.put("a", 6)
    seen.remove("a", 8)
    assert seen.values == {"a": "a@5"}
    seen.put("a", 10)
    assert seen.values == {"a": "a@10"}


def test_a_list_that_is_older_than_the_last_is_left_alone() -> None:
    seen = Seen()
    seen.replace(9, config_map("a", 5))
    seen.replace(4, config_map("deleted", 2))
    assert seen.values == {"a": "a@5"}


def test_a_list_of_one_namespace_leaves_the_others_alone() -> None:
    seen = Seen()
    seen.replace(9, config_map("a", 5), namespace="team")
    seen.replace(12, config_map("b", 11, namespace="other"), namespace="other")
    assert seen.values == {"a": "a@5", "b": "b@11"}
    seen.put("c", 10)
    seen.put("d", 10, namespace="other")
    seen.replace(13, namespace="other")
    assert seen.values == {"a": "a@5", "c": "c@10"}


def test_what_has_not_changed_is_not_read_again() -> None:
    seen = Seen()
    seen.put("a", 5)
    [before] = seen.store.listed([config_map("a", 5)]).values()
    [again] = seen.store.listed([config_map("a", 5)]).values()
    assert before is again


def test_objects_are_found_by_their_owner() -> None:
    seen = Seen()
    for name, version, owner in (("b", 1, "x"), ("a", 2, "x"), ("c", 3, "y")):
        seen.put(name, version, value=f"{owner}:{name}")
    assert [key for key, _ in seen.store.owned_by("x")] == [A, B]
    seen.put("b", 4, value="y:b")
    seen.remove("a", 5)
    assert list(seen.store.owned_by("x")) == []
    assert [name for (_, name), _ in seen.store.owned_by("y")] == ["b", "c"]


def test_an_object_that_cannot_be_read_is_left_out_and_named_once(caplog: pytest.LogCaptureFixture) -> None:
    seen = Seen()
    seen.put("a", 1)
    seen.put("a", 2, value="rubbish")
    seen.replace(9, config_map("a", 2, value="rubbish"))
    assert seen.values == {}
    assert seen.notified == [("a", None, "a@1"), ("a", "a@1", None)]
    assert [record.message for record in caplog.records] == [
        "ConfigMap team/a cannot be read and is left alone: ValueError('rubbish')"
    ]
    seen.put("a", 1)
    assert seen.values == {}
    seen.put("a", 10)
    assert seen.values == {"a": "a@10"}


def test_what_is_not_ours_is_left_out_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    seen = Seen()
    seen.put("a", 2, value="foreign")
    seen.put("a", 1)
    seen.remove("a", 3)
    assert (seen.values, seen.notified, caplog.records) == ({}, [], [])


def test_a_bug_is_no_object_that_cannot_be_read() -> None:
    def broken(raw: Manifest) -> str:  # noqa: ARG001
        raise RuntimeError("a bug")

    store: Store[str] = Store(broken, lambda _: "", lambda *_: None)
    with pytest.raises(RuntimeError, match="a bug"):
        store.put(config_map("a", 1))


def test_deletions_are_forgotten_with_the_next_list_and_beyond_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "MAX_TOMBSTONES", 2)
    seen = Seen()
    for name, version in (("a", 5), ("b", 6), ("c", 7)):
        seen.remove(name, version)
    seen.put("a", 4)
    seen.put("b", 4)
    assert seen.values == {"a": "a@4"}
    seen.replace(9)
    seen.put("c", 8)
    assert seen.values == {}


def test_a_resource_that_is_gone_has_no_objects() -> None:
    seen = Seen()
    seen.put("a", 1)
    seen.put("b", 2, namespace="other")
    seen.store.clear("team")
    assert seen.values == {"b": "b@2"}
    seen.store.clear(None)
    assert seen.values == {}
    assert list(seen.store.owned_by("")) == []


@pytest.mark.parametrize(
    ("raw", "key", "version"),
    [
        ({}, ("", ""), 0),
        ({"metadata": None}, ("", ""), 0),
        ({"metadata": {"name": "n", "resourceVersion": "12"}}, ("", "n"), 12),
        ({"metadata": {"namespace": "t", "name": "n", "resourceVersion": "x"}}, ("t", "n"), 0),
    ],
)
def test_what_identifies_an_object(raw: Manifest, key: Key, version: int) -> None:
    assert (key_of(raw), version_of(raw)) == (key, version)


def test_events_in_any_order_and_any_number_end_in_the_same_state() -> None:
    """A list is taken at any moment, and every later event arrives once or more, in any order."""
    for seed in range(200):
        check_any_order(seed)


def check_any_order(seed: int) -> None:
    draws = random.Random(seed)
    events, state = [], dict[str, tuple[str, int]]()
    states = [dict(state)]
    for version in range(1, 25):
        name = draws.choice("abc")
        uid, _ = state.get(name, (f"uid-{version}", 0))
        if name in state and draws.random() < 0.3:
            del state[name]
            events.append(("remove", name, version, uid))
        else:
            state[name] = (uid, version)
            events.append(("put", name, version, uid))
        states.append(dict(state))
    moment = draws.randrange(len(events))
    seen = Seen()
    seen.replace(moment, *(config_map(name, version, uid) for name, (uid, version) in states[moment].items()))
    late = [*events[moment:], *draws.choices(events, k=10)]
    draws.shuffle(late)
    for verb, name, version, uid in late:
        getattr(seen, verb)(name, version, uid)
    assert seen.values == {name: f"{name}@{version}" for name, (_, version) in state.items()}
    last = dict[str, str | None]()
    for name, old, new in seen.notified:
        assert last.get(name) == old
        last[name] = new
    assert {name: value for name, value in last.items() if value} == seen.values
