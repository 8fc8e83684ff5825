from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from trainwright_api.checks.cluster import validate_job
from trainwright_operator.informer import jobs
from trainwright_operator.informer.jobs import Jobs, ValidationCache
from trainwright_operator.informer.trim import StoredJob, read_job
from trainwright_operator.settings import Settings

from ..fake_time import START, FakeTime

Json = dict[str, Any]
Key = tuple[str, str]


def job(name: str, version: int, uid: str = "", **spec: Any) -> Json:
    metadata = {"namespace": "team", "name": name, "uid": uid or f"uid-{name}", "resourceVersion": str(version)}
    return {"apiVersion": "trainwright.dev/v1alpha1", "kind": "TrainingJob", "metadata": metadata, "spec": spec}


class JobsEnvironment:
    def __init__(self, *namespaces: str) -> None:
        self.time = FakeTime()
        self.notified: list[Key] = []
        self.jobs = Jobs(Settings(namespaces=namespaces, resync=100), self.time.now, self.changed)

    def changed(self, key: Key, old: StoredJob | None, new: StoredJob | None) -> None:  # noqa: ARG002
        self.notified.append(key)

    def lists(self, version: int, *names: str, place: str | None = None, last: bool = True) -> None:
        self.jobs.listed(place, [("team", name) for name in names], version, first=True, last=last)

    @property
    def names(self) -> list[str]:
        return sorted(name for (_, name), _ in self.jobs.store.items())


def run_scenario(scenario: Callable[[JobsEnvironment], Awaitable[None]], *namespaces: str) -> None:
    async def whole() -> None:
        await scenario(JobsEnvironment(*namespaces))

    asyncio.run(whole())


def test_events_of_kopf_are_kept_and_reported() -> None:
    async def scenario(environment: JobsEnvironment) -> None:
        environment.jobs.on_event(None, job("a", 5))
        environment.jobs.on_event("ADDED", job("b", 6))
        environment.jobs.on_event("MODIFIED", job("b", 7))
        assert (environment.names, environment.notified) == (["a", "b"], [("team", "a"), ("team", "b"), ("team", "b")])
        environment.jobs.on_event("DELETED", job("b", 8))
        assert environment.names == ["a"]

    run_scenario(scenario)


def test_what_is_listed_again_and_has_not_changed_is_no_news() -> None:
    async def scenario(environment: JobsEnvironment) -> None:
        environment.jobs.on_event(None, job("a", 5))
        environment.jobs.on_event(None, job("a", 5))
        assert environment.notified == [("team", "a")]

    run_scenario(scenario)


def test_what_a_whole_list_does_not_hold_is_forgotten() -> None:
    """kopf lists again after a gap, and does not report the deletions in it."""

    async def scenario(environment: JobsEnvironment) -> None:
        for raw in (job("a", 5), job("b", 6), job("newer", 20)):
            environment.jobs.on_event("ADDED", raw)
        environment.lists(10, "a", last=False)
        assert environment.names == ["a", "b", "newer"]
        environment.jobs.listed(None, [("team", "c")], 10, first=False, last=True)
        assert environment.names == ["a", "newer"]
        assert environment.notified[-1] == ("team", "b")
        environment.jobs.on_event("MODIFIED", job("b", 9))
        assert environment.names == ["a", "newer"]

    run_scenario(scenario)


def test_a_list_that_breaks_off_forgets_nothing() -> None:
    async def scenario(environment: JobsEnvironment) -> None:
        environment.jobs.on_event("ADDED", job("a", 5))
        environment.lists(10, "b", last=False)
        environment.lists(11, "a", "c")
        assert environment.names == ["a"]
        assert environment.jobs.keys(None) == [("team", "a"), ("team", "c")]

    run_scenario(scenario)


def test_a_list_of_an_api_server_that_lags_behind_forgets_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(environment: JobsEnvironment) -> None:
        environment.lists(10, "a")
        environment.jobs.on_event(None, job("a", 5))
        environment.lists(4)
        assert environment.names == ["a"]

    run_scenario(scenario)
    assert "older than the one before" in caplog.text


def test_a_job_that_came_too_late_to_be_forgotten_goes_with_the_next_list() -> None:
    async def scenario(environment: JobsEnvironment) -> None:
        environment.lists(10)
        environment.jobs.on_event(None, job("a", 5))
        assert environment.names == ["a"]
        environment.lists(11)
        assert environment.names == []

    run_scenario(scenario)


def test_a_job_that_the_api_server_does_not_know_any_more_is_forgotten_but_not_its_successor() -> None:
    async def scenario(environment: JobsEnvironment) -> None:
        environment.jobs.on_event("ADDED", job("a", 5))
        stored = environment.jobs.store.get(("team", "a"))
        assert stored is not None
        environment.jobs.forget(read_job(stored, validate_job))
        assert environment.names == []
        environment.jobs.on_event("ADDED", job("a", 7, uid="another"))
        environment.jobs.forget(read_job(stored, validate_job))
        assert environment.names == ["a"]

    run_scenario(scenario)


def test_a_listed_object_that_cannot_be_read_is_reported_all_the_same() -> None:
    """The reconciler waits until every job of the first list was processed."""

    async def scenario(environment: JobsEnvironment) -> None:
        broken = job("a", 5)
        broken["status"] = {"conditions": [{"type": "Complete", "status": "True"}]}
        broken["metadata"]["uid"] = None
        del broken["metadata"]["uid"]
        environment.jobs.on_event(None, broken)
        assert (environment.names, environment.notified) == ([], [("team", "a")])

    run_scenario(scenario)


def test_it_is_synced_in_a_namespace_whose_list_is_whole() -> None:
    async def scenario(environment: JobsEnvironment) -> None:
        assert not environment.jobs.synced("team")
        environment.lists(10, "a", place="team")
        environment.lists(10, place="two", last=False)
        assert environment.jobs.synced("team")
        assert not environment.jobs.synced("two")
        environment.lists(10, place="two")
        assert environment.jobs.synced("two")
        await environment.jobs.wait_until_synced("two")

    run_scenario(scenario, "team", "two")


def test_a_list_of_one_namespace_says_nothing_of_another() -> None:
    async def scenario(environment: JobsEnvironment) -> None:
        environment.jobs.on_event("ADDED", job("a", 5))
        environment.lists(10, place="two")
        assert environment.names == ["a"]
        environment.lists(10, place="team")
        assert environment.names == []

    run_scenario(scenario, "team", "two")


def test_the_place_that_was_silent_for_longest_counts() -> None:
    async def scenario(environment: JobsEnvironment) -> None:
        environment.time.passed = 30
        environment.jobs.seen("team")
        assert environment.jobs.last_seen == START
        environment.jobs.seen("two")
        assert environment.jobs.last_seen == environment.time.now()

    run_scenario(scenario, "team", "two")


def test_every_version_of_a_spec_is_validated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    validated: list[tuple[str, int]] = []

    def noted(raw: Any, **options: Any) -> Any:
        validated.append((raw["metadata"]["uid"], raw["metadata"]["generation"]))
        return validate_job(raw, **options)

    monkeypatch.setattr(jobs, "validate_job", noted)
    cache = ValidationCache({}, size=2)
    for uid, generation in (("a", 1), ("a", 1), ("a", 2), ("a", 1), ("b", 1), ("a", 1), ("a", 2)):
        raw = job("flights", 1, uid)
        raw["metadata"]["generation"] = generation
        cache.of(raw)
    assert validated == [("a", 1), ("a", 2), ("b", 1), ("a", 2)]
