from __future__ import annotations

import asyncio
from typing import Any

import pytest

from trainwright_operator.kube.client import ApiError
from trainwright_operator.smallest_job import LOOKS, train

from .fake_api import FakeApi

JOB = {"kind": "TrainingJob", "metadata": {"name": "trainwright-test", "namespace": "ml"}, "spec": {}}


def trained(api: FakeApi, *phases: str) -> bool:
    """The job has one of these phases at each look; the last one stays."""
    seen = iter(phases)

    async def waits(seconds: float) -> None:  # noqa: ARG001
        moves()

    def moves() -> None:
        job: dict[str, Any] | None = api.stored("TrainingJob", "trainwright-test", "ml")
        if job is not None and (phase := next(seen, "")):
            api.add({**job, "status": {"phase": phase, "message": "so it is"}})

    return asyncio.run(train(api, "ml", JOB, waits))  # type: ignore[arg-type]


@pytest.mark.parametrize(("last", "good"), [("Complete", True), ("Failed", False), ("Invalid", False)])
def test_it_follows_the_job_to_its_end_and_deletes_it(
    capsys: pytest.CaptureFixture[str], last: str, good: bool
) -> None:
    api = FakeApi()
    assert trained(api, "Starting", "Running", "Running", last) is good
    assert capsys.readouterr().out.splitlines() == [
        "Starting: so it is",
        "Running: so it is",
        f"{last}: so it is",
    ]
    assert api.names("TrainingJob") == []


def test_a_job_that_is_left_from_before_is_replaced() -> None:
    api = FakeApi()
    api.add({**JOB, "status": {"phase": "Complete"}})
    assert not trained(api, "Failed")


def test_it_does_not_wait_for_ever(capsys: pytest.CaptureFixture[str]) -> None:
    api = FakeApi()
    assert not trained(api, "Queued")
    assert capsys.readouterr().out.endswith("it has not ended after 1,200 s\n")
    assert api.requests.count("get TrainingJob/trainwright-test") == LOOKS + 1


def test_a_refusal_of_the_api_server_is_not_hidden() -> None:
    api = FakeApi()

    def refuses(verb: str, what: str) -> None:
        if verb == "create":
            raise ApiError(403, "Forbidden", what)

    api.fault = refuses
    with pytest.raises(ApiError, match="Forbidden"):
        trained(api, "Complete")
