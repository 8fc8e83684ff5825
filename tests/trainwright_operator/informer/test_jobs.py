from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from trainwright_operator.informer.jobs import Jobs
from trainwright_operator.informer.trim import StoredJob, read_job
from trainwright_operator.informer.verdicts import judge
from trainwright_operator.settings import Settings

from ..fake_time import START, FakeTime

Json = dict[str, Any]
Key = tuple[str, str]


def job(name: str, version: int, uid: str = "", **spec: Any) -> Json:
    metadata = {"namespace": "team", "name": name, "uid": uid or f"uid-{name}", "resourceVersion": str(version)}
    return {"apiVersion": "trainwright.dev/v1alpha1", "kind": "TrainingJob", "metadata": metadata, "spec": spec}


class Scene:
    def __init__(self, *namespaces: str) -> None:
        self.time = FakeTime()
        self.told: list[Key] = []
        self.jobs = Jobs(Settings(namespaces=namespaces, resync=100), self.time.now, self.changed)

    def changed(self, key: Key, old: StoredJob | None, new: StoredJob | None) -> None:  # noqa: ARG002
        self.told.append(key)

    def lists(self, version: int, *names: str, place: str | None = None, last: bool = True) -> None:
        self.jobs.listed(place, [("team", name) for name in names], version, first=True, last=last)

    @property
    def names(self) -> list[str]:
        return sorted(name for (_, name), _ in self.jobs.store.items())


def told(story: Callable[[Scene], Awaitable[None]], *namespaces: str) -> None:
    async def whole() -> None:
        await story(Scene(*namespaces))

    asyncio.run(whole())


def test_events_of_kopf_are_kept_and_told() -> None:
    async def story(scene: Scene) -> None:
        scene.jobs.heard(None, job("a", 5))
        scene.jobs.heard("ADDED", job("b", 6))
        scene.jobs.heard("MODIFIED", job("b", 7))
        assert (scene.names, scene.told) == (["a", "b"], [("team", "a"), ("team", "b"), ("team", "b")])
        scene.jobs.heard("DELETED", job("b", 8))
        assert scene.names == ["a"]

    told(story)


def test_what_is_listed_again_and_has_not_changed_is_no_news() -> None:
    async def story(scene: Scene) -> None:
        scene.jobs.heard(None, job("a", 5))
        scene.jobs.heard(None, job("a", 5))
        assert scene.told == [("team", "a")]

    told(story)


def test_what_a_whole_list_does_not_hold_is_forgotten() -> None:
    """kopf lists again after a gap, and does not report the deletions in it."""

    async def story(scene: Scene) -> None:
        for raw in (job("a", 5), job("b", 6), job("newer", 20)):
            scene.jobs.heard("ADDED", raw)
        scene.lists(10, "a", last=False)
        assert scene.names == ["a", "b", "newer"]
        scene.jobs.listed(None, [("team", "c")], 10, first=False, last=True)
        assert scene.names == ["a", "newer"]
        assert scene.told[-1] == ("team", "b")
        scene.jobs.heard("MODIFIED", job("b", 9))
        assert scene.names == ["a", "newer"]

    told(story)


def test_a_list_that_breaks_off_forgets_nothing() -> None:
    async def story(scene: Scene) -> None:
        scene.jobs.heard("ADDED", job("a", 5))
        scene.lists(10, "b", last=False)
        scene.lists(11, "a", "c")
        assert scene.names == ["a"]
        assert scene.jobs.keys() == [("team", "a"), ("team", "c")]

    told(story)


def test_a_list_of_an_api_server_that_lags_behind_forgets_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async def story(scene: Scene) -> None:
        scene.lists(10, "a")
        scene.jobs.heard(None, job("a", 5))
        scene.lists(4)
        assert scene.names == ["a"]

    told(story)
    assert "older than the one before" in caplog.text


def test_a_job_that_came_too_late_to_be_forgotten_goes_with_the_next_list() -> None:
    async def story(scene: Scene) -> None:
        scene.lists(10)
        scene.jobs.heard(None, job("a", 5))
        assert scene.names == ["a"]
        scene.lists(11)
        assert scene.names == []

    told(story)


def test_a_job_that_the_api_server_does_not_know_any_more_is_forgotten_but_not_its_successor() -> None:
    async def story(scene: Scene) -> None:
        scene.jobs.heard("ADDED", job("a", 5))
        stored = scene.jobs.store.get(("team", "a"))
        assert stored is not None
        scene.jobs.forget(read_job(stored, judge))
        assert scene.names == []
        scene.jobs.heard("ADDED", job("a", 7, uid="another"))
        scene.jobs.forget(read_job(stored, judge))
        assert scene.names == ["a"]

    told(story)


def test_a_listed_object_that_cannot_be_read_is_told_all_the_same() -> None:
    """The reconciler waits until every job of the first list was processed."""

    async def story(scene: Scene) -> None:
        broken = job("a", 5)
        broken["status"] = {"conditions": [{"type": "Complete", "status": "True"}]}
        broken["metadata"]["uid"] = None
        del broken["metadata"]["uid"]
        scene.jobs.heard(None, broken)
        assert (scene.names, scene.told) == ([], [("team", "a")])

    told(story)


def test_it_is_synced_when_a_list_of_each_namespace_is_whole() -> None:
    async def story(scene: Scene) -> None:
        scene.lists(10, "a", place="team")
        assert not scene.jobs.synced
        scene.lists(10, place="two", last=False)
        assert not scene.jobs.synced
        scene.lists(10, place="two")
        assert scene.jobs.synced
        await scene.jobs.wait_until_synced()

    told(story, "team", "two")


def test_a_list_of_one_namespace_says_nothing_of_another() -> None:
    async def story(scene: Scene) -> None:
        scene.jobs.heard("ADDED", job("a", 5))
        scene.lists(10, place="two")
        assert scene.names == ["a"]
        scene.lists(10, place="team")
        assert scene.names == []

    told(story, "team", "two")


def test_the_place_that_was_silent_for_longest_counts() -> None:
    async def story(scene: Scene) -> None:
        scene.time.passed = 30
        scene.jobs.seen("team")
        assert scene.jobs.last_seen == START
        scene.jobs.seen("two")
        assert scene.jobs.last_seen == scene.time.now()

    told(story, "team", "two")
