from __future__ import annotations

import asyncio
from typing import Any

import pytest

from trainwright_api.resource.status import Attempt, Condition, TrainingJobStatus
from trainwright_operator.controller.event_recorder import EventRecorder

from ..a_job import seen, stored
from ..fake_api import FakeApi, unreachable
from ..fake_time import FakeTime

CREATED = "2026-11-01T12:00:00Z"


def recorded(api: FakeApi, after: TrainingJobStatus) -> list[dict[str, Any]]:
    """The events of a job whose status was empty, in the order of their names, as kubectl shows them."""

    async def scenario() -> None:
        recorder = EventRecorder(api, FakeTime().now, "pod-1")  # type: ignore[arg-type]
        recorder.difference(seen(stored(api)), after)
        await recorder.flush()

    asyncio.run(scenario())
    return [found for key, found in sorted(api.objects.items()) if key[0] == "Event"]


def condition(kind: str, status: str, message: str) -> Condition:
    return Condition.model_validate(
        {"type": kind, "status": status, "lastTransitionTime": CREATED, "reason": kind, "message": message}
    )


def test_an_event_says_what_of_whom_and_by_whom() -> None:
    [event] = recorded(FakeApi(), TrainingJobStatus(attempts=[Attempt(number=1, child="a-1", create_time=CREATED)]))
    assert (event["type"], event["reason"], event["note"]) == ("Normal", "Started", "attempt 1: a-1")
    assert event["regarding"]["uid"] == "uid-of-flights"
    assert event["eventTime"] == "2026-11-01T12:00:00.000000Z"
    assert (event["reportingController"], event["reportingInstance"]) == ("trainwright.dev/operator", "pod-1")
    assert event["metadata"]["name"].startswith("flights.")


def test_events_of_one_moment_keep_their_order_and_have_names_of_their_own() -> None:
    status = TrainingJobStatus(
        conditions=[condition("Accepted", "True", "good"), condition("Suspended", "True", "too large")],
        attempts=[Attempt(number=1, create_time=CREATED)],
    )
    assert [event["reason"] for event in recorded(FakeApi(), status)] == ["Accepted", "Suspended", "Started"]


def test_a_long_message_is_cut_in_bytes() -> None:
    status = TrainingJobStatus(conditions=[condition("Accepted", "False", "é" * 2000)])
    [event] = recorded(FakeApi(), status)
    assert len(event["note"].encode()) <= 1024
    assert event["note"].endswith("é…")


def test_an_event_that_cannot_be_written_is_only_logged(caplog: pytest.LogCaptureFixture) -> None:
    api = FakeApi()
    api.fault = unreachable
    recorded(api, TrainingJobStatus(attempts=[Attempt(number=1, create_time=CREATED)]))
    assert "the event Started could not be written" in caplog.text
