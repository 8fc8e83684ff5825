from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from trainwright_api.resource.status import Attempt, PostedOutcome, Progress, Resolved, TrainingJobStatus
from trainwright_operator.controller.apply import Applier, Foreign, Refused, Stale, Vanished, own_fields
from trainwright_operator.kube.client import ApiError, Unreachable
from trainwright_operator.model.plan import Deletion, Plan

from ..a_job import child, seen, stored
from ..fake_api import FakeApi
from ..fake_time import FakeTime

RUNNING = TrainingJobStatus(phase="Running")
BEGUN = TrainingJobStatus(attempts=[Attempt(number=1, create_time="2026-11-01T12:00:00Z")])


class ApplyEnvironment:
    """An API server with one job, and an Applier."""

    def __init__(self) -> None:
        self.api = FakeApi()
        self.raw = stored(self.api)
        self.job = seen(self.raw)
        self.noted: list[Any] = []
        self.applier = Applier(self.api, self.noted.append, FakeTime().now)  # type: ignore[arg-type]

    async def apply(self, **plan: Any) -> None:
        await self.applier.carry_out(self.job, Plan(**plan))
        await self.applier.recorder.flush()

    def changed_by_another(self) -> dict[str, Any]:
        return self.api.add(self.raw)


Scenario = Callable[[ApplyEnvironment], Awaitable[None]]


def run_scenario(scenario: Scenario) -> None:
    asyncio.run(scenario(ApplyEnvironment()))


def answers(status: int, reason: str = "Bad") -> Callable[[str, str], None]:
    def fault(verb: str, what: str) -> None:
        if verb == "create" and what.startswith("Job"):
            raise ApiError(status, reason, "spec.template is not right")

    return fault


def test_the_order_is_look_create_delete_status() -> None:
    async def scenario(environment: ApplyEnvironment) -> None:
        environment.api.add(child("Job", "old"))
        await environment.apply(
            create=(child("ConfigMap", "flights"), child("Job", "flights-1")),
            delete=(Deletion("Job", "team", "old"),),
            status=RUNNING,
        )
        assert environment.api.requests == [
            "get TrainingJob/flights",
            "create ConfigMap/flights",
            "create Job/flights-1",
            "get Job/old",
            "delete Job/old",
            "apply TrainingJob/flights",
        ]

    run_scenario(scenario)


def test_an_empty_plan_asks_nothing() -> None:
    async def scenario(environment: ApplyEnvironment) -> None:
        await environment.apply()
        assert environment.api.requests == []

    run_scenario(scenario)


def test_the_status_that_comes_back_is_noted() -> None:
    async def scenario(environment: ApplyEnvironment) -> None:
        await environment.apply(status=RUNNING)
        [noted] = environment.noted
        assert noted["status"] == {"phase": "Running"}
        assert noted["metadata"]["resourceVersion"] != environment.job.resource_version

    run_scenario(scenario)


def test_nothing_is_created_for_a_job_that_has_changed() -> None:
    async def scenario(environment: ApplyEnvironment) -> None:
        fresh = environment.changed_by_another()
        with pytest.raises(Stale):
            await environment.apply(create=(child("Job", "flights-1"),), status=RUNNING)
        assert environment.api.writes() == []
        assert environment.noted == [fresh]

    run_scenario(scenario)


def test_nothing_is_deleted_for_a_job_that_has_changed() -> None:
    """The object to delete may belong to an attempt that is newer than the observed state."""

    async def scenario(environment: ApplyEnvironment) -> None:
        environment.api.add(child("Job", "flights-2"))
        environment.changed_by_another()
        with pytest.raises(Stale):
            await environment.apply(delete=(Deletion("Job", "default", "flights-2"),))
        assert environment.api.writes() == []

    run_scenario(scenario)


def test_no_child_is_created_for_a_job_that_changes_between_its_supports_and_its_child() -> None:
    """Another operator has created the shared objects, and may have seen the attempt's child come and go since."""

    async def scenario(environment: ApplyEnvironment) -> None:
        def goes_on(verb: str, what: str) -> None:
            if (verb, what) == ("create", "ConfigMap/flights"):
                environment.changed_by_another()

        environment.api.add(child("ConfigMap", "flights"))
        environment.api.fault = goes_on
        with pytest.raises(Stale):
            await environment.apply(create=(child("ConfigMap", "flights"), child("Job", "flights-1")), status=RUNNING)
        assert "create Job/flights-1" not in environment.api.requests

    run_scenario(scenario)


def test_nothing_is_created_for_a_job_that_is_gone() -> None:
    async def scenario(environment: ApplyEnvironment) -> None:
        environment.api.objects.clear()
        with pytest.raises(Vanished):
            await environment.apply(create=(child("Job", "flights-1"),), status=RUNNING)
        assert environment.api.writes() == []

    run_scenario(scenario)


@pytest.mark.parametrize("kind", ["Job", "RayJob", "ConfigMap", "Service", "NetworkPolicy"])
def test_what_is_there_and_ours_is_fine(kind: str) -> None:
    async def scenario(environment: ApplyEnvironment) -> None:
        environment.api.add(child(kind, "flights-1"))
        await environment.apply(create=(child(kind, "flights-1"),), status=RUNNING)
        assert environment.noted

    run_scenario(scenario)


@pytest.mark.parametrize("kind", ["Job", "RayJob", "ConfigMap", "Service", "NetworkPolicy"])
def test_what_is_there_and_somebody_elses_is_reported(kind: str) -> None:
    async def scenario(environment: ApplyEnvironment) -> None:
        environment.api.add(child(kind, "flights-1", owner="another"))
        with pytest.raises(Foreign, match=f"^{kind} flights-1 exists and does not belong to this job"):
            await environment.apply(create=(child(kind, "flights-1"),), status=RUNNING)
        assert environment.noted == []

    run_scenario(scenario)


def test_no_secret_is_ever_read() -> None:
    async def scenario(environment: ApplyEnvironment) -> None:
        environment.api.add(child("Secret", "flights"))
        await environment.apply(create=(child("Secret", "flights"),))
        assert "get Secret/flights" not in environment.api.requests

    run_scenario(scenario)


@pytest.mark.parametrize("status", [400, 403, 404, 422])
def test_what_the_api_server_will_never_take_is_refused(status: int) -> None:
    async def scenario(environment: ApplyEnvironment) -> None:
        environment.api.fault = answers(status)
        with pytest.raises(Refused, match=r"^Job flights-1 cannot be created: spec.template is not right$"):
            await environment.apply(create=(child("Job", "flights-1"),), status=RUNNING)
        assert environment.noted == []

    run_scenario(scenario)


@pytest.mark.parametrize("status", [401, 429, 500, 503])
def test_what_it_may_take_later_is_its_own_error(status: int) -> None:
    async def scenario(environment: ApplyEnvironment) -> None:
        environment.api.fault = answers(status)
        with pytest.raises(ApiError):
            await environment.apply(create=(child("Job", "flights-1"),), status=RUNNING)

    run_scenario(scenario)


def test_what_has_gone_or_is_another_by_now_need_not_be_deleted() -> None:
    async def scenario(environment: ApplyEnvironment) -> None:
        other = environment.api.add(child("Job", "flights-2"))
        gone = Deletion("Job", "team", "flights-1", "uid-1")
        await environment.apply(delete=(gone, Deletion("Job", "team", "flights-2", "uid-of-old")), status=RUNNING)
        assert environment.api.stored("Job", "flights-2") == other
        assert environment.noted

    run_scenario(scenario)


def test_an_object_of_a_name_is_deleted_if_it_is_the_jobs() -> None:
    """Its uid is read first, so that an object that takes the name meanwhile is not deleted."""

    async def scenario(environment: ApplyEnvironment) -> None:
        environment.api.add(child("Service", "flights"))
        other = environment.api.add(child("ConfigMap", "flights", owner="uid-of-another"))
        deleted: list[str | None] = []
        delete = environment.api.delete

        async def noted(*where: Any, uid: str | None, **more: Any) -> Any:
            deleted.append(uid)
            return await delete(*where, uid=uid, **more)

        environment.api.delete = noted  # type: ignore[method-assign]
        named = (Deletion(kind, "team", "flights") for kind in ("Service", "ConfigMap", "NetworkPolicy"))
        uid = environment.api.stored("Service", "flights")["metadata"]["uid"]  # type: ignore[index]
        await environment.apply(delete=tuple(named))
        assert environment.api.names("Service") == []
        assert environment.api.stored("ConfigMap", "flights") == other
        assert deleted == [uid]

    run_scenario(scenario)


def test_a_deletion_that_fails_ends_the_pass_before_the_status() -> None:
    async def scenario(environment: ApplyEnvironment) -> None:
        def fault(verb: str, what: str) -> None:
            if verb == "delete":
                raise Unreachable(what)

        environment.api.fault = fault
        with pytest.raises(Unreachable):
            await environment.apply(delete=(Deletion("Job", "team", "flights-1", "uid-1"),), status=RUNNING)
        assert environment.noted == []

    run_scenario(scenario)


def test_a_job_is_deleted_by_its_uid() -> None:
    async def scenario(environment: ApplyEnvironment) -> None:
        await environment.apply(delete=(Deletion("TrainingJob", "team", "flights", "uid-of-flights"),))
        assert environment.api.names("TrainingJob") == []

    run_scenario(scenario)


def test_a_conflict_on_the_status_brings_the_fresh_object() -> None:
    async def scenario(environment: ApplyEnvironment) -> None:
        fresh = environment.changed_by_another()
        with pytest.raises(Stale):
            await environment.apply(status=RUNNING)
        assert environment.noted == [fresh]
        assert environment.api.names("Event") == []

    run_scenario(scenario)


def test_a_job_that_goes_before_its_status_is_written_is_reported_as_gone() -> None:
    async def scenario(environment: ApplyEnvironment) -> None:
        environment.api.objects.clear()
        with pytest.raises(Vanished):
            await environment.apply(status=RUNNING)
        assert environment.noted == []

    run_scenario(scenario)


def test_the_status_holds_the_reconcilers_fields_alone() -> None:
    status = TrainingJobStatus(
        phase="Running",
        attempts=[Attempt(number=1, child="flights-1")],
        progress=Progress(attempt=1),
        outcome=PostedOutcome(attempt=1, outcome="done"),
        resolved=Resolved(workers=2, batch_size=8, global_batch_size=16, learning_rate_factor=2.0),
    )
    assert own_fields(status) == {
        "phase": "Running",
        "attempts": [{"number": 1, "child": "flights-1"}],
        "resolved": {"workers": 2},
    }


def test_events_follow_the_status() -> None:
    async def scenario(environment: ApplyEnvironment) -> None:
        await environment.apply(status=BEGUN)
        assert [request.split("/")[0] for request in environment.api.requests] == ["apply TrainingJob", "create Event"]

    run_scenario(scenario)


def test_a_reset_removes_the_whole_status_with_one_event() -> None:
    async def scenario(environment: ApplyEnvironment) -> None:
        environment.job = seen(environment.api.add({**environment.raw, "status": {"attempt": "one"}}))
        await environment.apply(reset="status.attempt: expected a whole number")
        job = environment.api.stored("TrainingJob", "flights")
        assert job is not None
        assert "status" not in job
        assert environment.noted == [job]
        (name,) = environment.api.names("Event")
        event = environment.api.stored("Event", name) or {}
        assert (event["type"], event["reason"]) == ("Warning", "StatusReset")
        assert event["note"].endswith("is reset: status.attempt: expected a whole number")

    run_scenario(scenario)


def test_a_status_that_has_been_put_right_meanwhile_is_not_reset() -> None:
    async def scenario(environment: ApplyEnvironment) -> None:
        environment.changed_by_another()
        with pytest.raises(Stale):
            await environment.apply(reset="status.attempt: expected a whole number")
        assert environment.api.writes() == []

    run_scenario(scenario)
