"""The events of Jobs whose pods cannot be created: one list for all jobs of a namespace."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from trainwright_operator.controller.failed_creations import SECONDS, FailedCreations
from trainwright_operator.kube.client import ApiError

from ..fake_api import FakeApi, unreachable
from ..fake_time import FakeTime

SELECTOR = "list Event/reason=FailedCreate,regarding.kind=Job"


def event(api: FakeApi, name: str, child: str, note: str) -> None:
    metadata = {"name": name, "namespace": "team"}
    api.add({"kind": "Event", "metadata": metadata, "regarding": {"name": child}, "note": note})


def forbidden(verb: str, what: str) -> None:
    raise ApiError(403, "Forbidden", f"{verb} {what} is forbidden")


def failed_creations() -> tuple[FakeApi, FakeTime, FailedCreations]:
    api, clock = FakeApi(), FakeTime()
    client: Any = api
    return api, clock, FailedCreations(client, clock.now)


def test_jobs_of_a_namespace_share_one_list_for_a_while() -> None:
    async def scenario() -> None:
        api, clock, creations = failed_creations()
        event(api, "one", "flights-1", "exceeded quota: a")
        assert await asyncio.gather(creations.cause("team", "flights-1"), creations.cause("team", "other")) == [
            "exceeded quota: a",
            "",
        ]
        assert await creations.cause("elsewhere", "flights-1") == ""
        assert api.requests == [SELECTOR, SELECTOR]
        event(api, "one", "flights-1", "exceeded quota: b")
        assert await creations.cause("team", "flights-1") == "exceeded quota: a"
        await clock.advance(SECONDS)
        assert await creations.cause("team", "flights-1") == "exceeded quota: b"

    asyncio.run(scenario())


def test_without_the_permission_there_is_no_cause() -> None:
    api, _, creations = failed_creations()
    api.fault = forbidden
    assert asyncio.run(creations.cause("team", "flights-1")) == ""


def test_any_other_failure_is_one_of_the_pass() -> None:
    api, _, creations = failed_creations()
    api.fault = unreachable
    with pytest.raises(ApiError):
        asyncio.run(creations.cause("team", "flights-1"))
