"""The API server accepts every status that the operator's model can hold; what it accepts from others is readable."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import filterfalse, pairwise
from typing import Any

import pytest
from pydantic import ValidationError
from testkit.api import Api
from testkit.api.resource import TRAINING_JOBS
from testkit.cluster.cluster import Cluster
from testkit.contract import answers, jobs
from testkit.contract.answers import Admission
from testkit.contract.differences import is_nearly_whole
from testkit.contract.mutations import mutated
from testkit.contract.values import Maker

from trainwright_api.checks.cluster import ValidationResult
from trainwright_api.resource.status import TrainingJobStatus
from trainwright_operator.controller.apply import Applier, own_fields
from trainwright_operator.informer.trim import LARGEST_ATTEMPT, read_job, read_status, strip_job
from trainwright_operator.kube.client import ApiError, Client
from trainwright_operator.kube.connection import Connection
from trainwright_operator.model.observed import Job
from trainwright_operator.model.plan import Plan

ODD_TIMES = ("0000-01-01T00:00:00Z", "2026-02-30T12:00:00Z")
"""Strings with the form of a time that are no valid time."""


def statuses(seed: int, count: int) -> Iterator[Any]:
    """Random statuses as the operator writes them."""
    rng = random.Random(seed)
    for _ in range(count):
        made = Maker(rng, rng.choice([0.2, 0.6, 0.95])).section(TrainingJobStatus)
        yield as_written(TrainingJobStatus.model_validate(json.loads(json.dumps(made))))


def as_written(status: TrainingJobStatus) -> Any:
    return status.model_dump(mode="json", by_alias=True, exclude_none=True)


@pytest.fixture
def job(cluster: Cluster, namespace: str) -> Any:
    made = json.dumps(jobs.plain())
    return json.loads(cluster.kubectl("create", "-f=-", f"-n={namespace}", "-o=json", stdin=made))


def put(cluster: Cluster, job: Any, made: Sequence[Any]) -> list[Admission]:
    metadata = job["metadata"]
    whole = [{**job, "status": status} for status in made]
    return asyncio.run(answers.written(cluster.kubeconfig, metadata["namespace"], metadata["name"], whole))


def test_every_status_that_the_model_can_hold_is_taken_and_read_again(cluster: Cluster, job: Any) -> None:
    made = list(statuses(seed=1, count=300))
    for status, answer in zip(made, put(cluster, job, made), strict=True):
        assert answer.refusal == "", json.dumps(status)[:2000]
        assert as_written(read_status(answer.stored.get("status"))) == _believed(status)


def test_what_the_api_server_takes_of_others_is_read_as_far_as_it_can_be_read(cluster: Cluster, job: Any) -> None:
    """Only an invalid time is unreadable; it drops no more than the item or the field that holds it."""
    rng = random.Random(2)
    made = [_with_odd_time(rng, mutated(rng, status)) for status in statuses(seed=3, count=600)]
    taken = [answer.stored["status"] for answer in put(cluster, job, list(filter(None, made))) if not answer.refusal]
    lost = 0
    for status in filterfalse(_has_a_number_nearly_whole, taken):
        read = as_written(read_status(status))
        for key, value in status.items():
            assert read.get(key) == _readable(value), f"{key} of {json.dumps(status)[:2000]}"
            lost += key not in read
    assert 100 < len(taken) < 500
    assert lost > 10


def test_what_the_operator_writes_leaves_nothing_of_what_a_user_has_written(cluster: Cluster, job: Any) -> None:
    asyncio.run(_written_over(cluster, job, list(statuses(seed=5, count=120))))


async def _written_over(cluster: Cluster, job: Any, made: Sequence[Any]) -> None:
    """Covers manual edits by patch and by apply, which keeps ownership. The second try stands for the next pass."""
    name, namespace = job["metadata"]["name"], job["metadata"]["namespace"]
    connection = await Connection.open(str(cluster.kubeconfig))
    async with Api(cluster.kubeconfig) as api, Client(connection) as client:
        applier = Applier(client, lambda _: None, lambda: datetime.now(UTC))
        refused = 0
        for number, (by_a_hand, own) in enumerate(pairwise(made)):
            if number % 2:
                await api.patch_status(TRAINING_JOBS, name, namespace, by_a_hand)
            else:
                whole = {"metadata": {"name": name}, "status": by_a_hand}
                await api.apply(TRAINING_JOBS, whole, f"manager-{number}", namespace, "status")
            plan = Plan(status=TrainingJobStatus.model_validate(own))
            try:
                await applier.carry_out(await _seen(api, name, namespace), plan)
            except ApiError as error:
                refused += error.invalid
                await applier.carry_out(await _seen(api, name, namespace), plan)
            found = read_status((await api.get(TRAINING_JOBS, name, namespace))["status"])
            assert _full(own_fields(found)) == _full(own_fields(read_status(own))), json.dumps([by_a_hand, own])[:4000]
        assert refused > 0, "every manual edit was valid on its own"


async def _seen(api: Api, name: str, namespace: str) -> Job:
    return read_job(strip_job(await api.get(TRAINING_JOBS, name, namespace)), lambda _: ValidationResult(None, ""))


def _full(value: Any) -> Any:
    """An empty list has no field owner, and may disappear with its content."""
    if not isinstance(value, dict):
        return value
    full = {key: _full(item) for key, item in value.items()}
    return {key: item for key, item in full.items() if item not in ([], {})}


@pytest.mark.parametrize("form", ["2026-05-01t12:00:00z", "2026-05-01", "now", ["2026-05-01T12:00:00Z"], 5, ""])
def test_what_has_not_the_form_of_a_time_is_refused(cluster: Cluster, job: Any, form: Any) -> None:
    """Includes a list, which OpenAPI's own date-time format accepts: rules about the start would fail on it."""
    [answer] = put(cluster, job, [{"startTime": form}])
    assert "status.startTime" in answer.refusal


def _has_a_number_nearly_whole(status: Any) -> bool:
    """A known difference: such a number drops as much as an odd time does."""
    try:
        TrainingJobStatus.model_validate(status)
    except ValidationError as error:
        return any(map(is_nearly_whole, error.errors(include_url=False)))
    return False


def _with_odd_time(rng: random.Random, status: Any) -> Any:
    """Replace some times with odd ones."""
    for holder, key in _times(status):
        if rng.random() < 0.1:
            holder[key] = rng.choice(ODD_TIMES)
    return status


def _times(value: Any) -> Iterator[tuple[Any, str]]:
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if isinstance(key, str) and key.endswith("Time") and isinstance(item, str):
            yield value, key
        yield from _times(item)


def _readable(value: Any) -> Any:
    """The readable part of a field: a list without its odd items; any other value in full or not at all."""
    if isinstance(value, list):
        return [_without_nulls(item) for item in value if not _is_odd(item)]
    return None if _is_odd(value) else _without_nulls(value)


def _without_nulls(value: Any) -> Any:
    """null means absent. The API server keeps a null inside a map."""
    if not isinstance(value, dict):
        return value
    return {key: _without_nulls(item) for key, item in value.items() if item is not None}


def _believed(status: Any) -> Any:
    """The status without attempts of a number that no job reaches: they come from a manual edit."""
    if "attempts" not in status:
        return status
    return {**status, "attempts": [item for item in status["attempts"] if not _is_unbelievable(item)]}


def _is_unbelievable(value: Any) -> bool:
    return isinstance(value, dict) and value.get("number", 0) > LARGEST_ATTEMPT


def _is_odd(value: Any) -> bool:
    odd_time = value in ODD_TIMES or any(holder[key] in ODD_TIMES for holder, key in _times(value))
    return odd_time or _is_unbelievable(value)
