"""Manual edits that do not belong in a job's life: of its status, its spec, and the objects that it has created."""

from __future__ import annotations

import copy
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from testkit.api import Api, ApiError, Manifest, Resource
from testkit.api.resource import CHILDREN, PODS, SHARED_KINDS, TRAINING_JOBS
from testkit.contract.mutations import mutated
from trainwright_operator.model import names

TRIES = 30
"""The API server refuses most random mistakes."""
NUMBERS = (0, 1, 7, 10, 2**31, 2**53 - 1, 2**53)
TIMES = ("", "soon", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2026-11-21", "2026-02-30T00:00:00Z", "1e9")
CONDITIONS = ("Accepted", "Started", "Running", "Suspended", "Complete", "Failed", "Reconciling", "Stalled")
PHASES = ("Invalid", "Pending", "Queued", "Starting", "Running", "Stopping", "Suspended", "Complete", "Failed")
COUNTS = ("attempt", "retries", "preemptions", "activeSeconds", "observedGeneration")
OUTCOMES = ("done", "mistake", "environment", "crash", "stopped", "infrastructure", "preempted")
OF_ATTEMPTS = ("number", "child", "stage", "outcome", "createTime", "startTime", "stopTime", "completionTime")
WORDS = ("", "x", "flights", "another-1-train", "Ä" * 200, "a\nb\u2028c")


@dataclass(frozen=True)
class ManualEditor:
    """Makes manual edits to one job."""

    api: Api
    namespace: str
    name: str
    draw: random.Random

    async def job(self) -> Manifest:
        return await self.api.get(TRAINING_JOBS, self.name, self.namespace)

    async def meddle(self) -> str:
        """Make one edit that the API server accepts, and return its description."""
        for _ in range(TRIES):
            trick = self.draw.choice(TRICKS)
            try:
                did = await trick(self)
            except ApiError as error:
                # The API server answers 500 to an apply with some fields of wrong types.
                if error.code not in (400, 404, 409, 422, 500):
                    raise
            else:
                if did:
                    return f"{trick.__name__}: {did}"
        raise AssertionError(f"nothing passed in {TRIES} tries")

    async def write_status(self, status: Mapping[str, Any]) -> str:
        """Write it with a merge patch, or with an apply by another field manager, which takes the fields over."""
        job = await self.job()
        if self.draw.random() < 0.5:
            gone = {key: None for key in job.get("status", {}) if key not in status}
            await self.api.patch_status(TRAINING_JOBS, self.name, self.namespace, {**gone, **status})
        else:
            own = {"metadata": {"name": self.name}, "status": status}
            await self.api.apply(TRAINING_JOBS, own, "kubectl-edit", self.namespace, "status")
        return str(status)[:600]

    async def put(self, job: Manifest) -> None:
        await self.api.request("PUT", TRAINING_JOBS.path(self.namespace, self.name), job)

    async def one_of(self, *resources: Resource) -> tuple[Resource, Manifest] | None:
        uid = (await self.job())["metadata"]["uid"]
        found = [
            (resource, one)
            for resource in resources
            for one in (await self.api.list(resource, self.namespace, f"{names.JOB_UID}={uid}")).items
        ]
        return self.draw.choice(found) if found else None


Trick = Callable[[ManualEditor], Awaitable[str]]


async def mistakes_in_the_status(editor: ManualEditor) -> str:
    status = (await editor.job()).get("status", {})
    return await editor.write_status(mutated(editor.draw, status)) if status else ""


async def part_of_the_status_erased(editor: ManualEditor) -> str:
    status = (await editor.job()).get("status", {})
    gone = editor.draw.sample(sorted(status), min(len(status), editor.draw.choice([1, 2, 5, 30])))
    await editor.api.patch_status(TRAINING_JOBS, editor.name, editor.namespace, dict.fromkeys(gone))
    return str(gone) if gone else ""


async def condition_forged(editor: ManualEditor) -> str:
    draw = editor.draw
    forged = {
        "type": draw.choice(CONDITIONS),
        "status": draw.choice(["True", "False", "Unknown"]),
        "reason": draw.choice(["x", "ChangedAfterStart", "Queued", "Done", "Mistake"]),
        "message": draw.choice(WORDS),
        "lastTransitionTime": draw.choice(TIMES),
    }
    status = (await editor.job()).get("status", {})
    others = [one for one in status.get("conditions", []) if one["type"] != forged["type"]]
    return await editor.write_status({**status, "conditions": [*draw.sample(others, len(others)), forged]})


async def counts_forged(editor: ManualEditor) -> str:
    status = (await editor.job()).get("status", {})
    return await editor.write_status({**status, editor.draw.choice(COUNTS): editor.draw.choice(NUMBERS)})


async def attempts_forged(editor: ManualEditor) -> str:
    draw, status = editor.draw, (await editor.job()).get("status", {})
    attempts = copy.deepcopy(status.get("attempts", [])) or [{"number": 1}]
    for attempt in draw.sample(attempts, draw.randint(1, len(attempts))):
        field = draw.choice(
            ["number", "child", "stage", "outcome", "createTime", "startTime", "stopTime", "completionTime"]
        )
        attempt[field] = _forged(draw, field)
    more = [{"number": draw.choice(NUMBERS), "child": draw.choice(WORDS)}] if draw.random() < 0.3 else []
    return await editor.write_status({**status, "attempts": draw.choice([[], attempts + more, attempts + more])})


def _forged(draw: random.Random, field: str) -> Any:
    match field:
        case "number":
            return draw.choice(NUMBERS)
        case "outcome":
            return draw.choice(OUTCOMES)
        case "child" | "stage":
            return draw.choice(WORDS)
    return draw.choice(TIMES)


async def moments_forged(editor: ManualEditor) -> str:
    draw, status = editor.draw, (await editor.job()).get("status", {})
    return await editor.write_status({**status, draw.choice(["startTime", "completionTime"]): draw.choice(TIMES)})


async def display_forged(editor: ManualEditor) -> str:
    draw, status = editor.draw, (await editor.job()).get("status", {})
    forged = {"phase": draw.choice(PHASES), "child": draw.choice(WORDS), "message": draw.choice(WORDS)}
    field = draw.choice(sorted(forged))
    return await editor.write_status({**status, field: forged[field]})


async def outcome_forged(editor: ManualEditor) -> str:
    draw = editor.draw
    outcome = {
        "attempt": draw.choice([0, 1, 2, 2**53]),
        "outcome": draw.choice(OUTCOMES),
        "postTime": draw.choice(TIMES),
    }
    await editor.api.patch_status(TRAINING_JOBS, editor.name, editor.namespace, {"outcome": outcome})
    return str(outcome)


async def resolution_forged(editor: ManualEditor) -> str:
    draw, status = editor.draw, (await editor.job()).get("status", {})
    field = draw.choice(["digest", "workers", "gpus", "workersPerPod", "image", "seed", "strategy"])
    value = draw.choice(WORDS) if field in ("digest", "image", "strategy") else draw.choice(NUMBERS)
    return await editor.write_status({**status, "resolved": {**status.get("resolved", {}), field: value}})


async def mistakes_in_the_spec(editor: ManualEditor) -> str:
    job = await editor.job()
    job["spec"] = mutated(editor.draw, job["spec"])
    await editor.put(job)
    return str(job["spec"])[:600]


async def key_of_the_config_renamed(editor: ManualEditor) -> str:
    job = await editor.job()
    feature = job["spec"]["config"]["input_features"][0]
    feature[editor.draw.choice(["colum", "Type", "x"])] = editor.draw.choice(WORDS)
    await editor.put(job)
    return str(feature)


async def suspended(editor: ManualEditor) -> str:
    await editor.api.patch(TRAINING_JOBS, editor.name, editor.namespace, {"spec": {"suspend": True}})
    return "true"


async def metadata_edited(editor: ManualEditor) -> str:
    draw = editor.draw
    changes = draw.choice(
        [
            {"finalizers": ["example.com/wait"]},
            {"labels": {names.JOB_UID: "x", "app": "y"}},
            {"annotations": {"kopf.zalando.org/last-handled-configuration": "{"}},
        ]
    )
    await editor.api.patch(TRAINING_JOBS, editor.name, editor.namespace, {"metadata": changes})
    return str(changes)


async def parts_edited(editor: ManualEditor) -> str:
    """Labels and owners of children, pods and supports: removed or wrong."""
    found, draw = await editor.one_of(*CHILDREN, *SHARED_KINDS, PODS), editor.draw
    if found is None:
        return ""
    resource, one = found
    label = draw.choice([names.JOB_UID, names.JOB_NAME, names.ATTEMPT, names.STAGE, names.MANAGED_BY])
    changes = draw.choice(
        [
            {"ownerReferences": None},
            {"labels": {label: None}},
            {"labels": {label: draw.choice(["x", "-1", "99", "00000000000000000001", ""])}},
            {"annotations": {"a": "b"}},
        ]
    )
    await editor.api.patch(resource, one["metadata"]["name"], editor.namespace, {"metadata": changes})
    return f"{resource.kind} {changes}"


async def parts_deleted(editor: ManualEditor) -> str:
    found = await editor.one_of(*CHILDREN, *SHARED_KINDS, PODS)
    if found is None:
        return ""
    resource, one = found
    await editor.api.delete(resource, one["metadata"]["name"], editor.namespace)
    return f"{resource.kind} {one['metadata']['name']}"


TRICKS: tuple[Trick, ...] = (
    *(mistakes_in_the_status, mistakes_in_the_status, part_of_the_status_erased, condition_forged, counts_forged),
    *(attempts_forged, attempts_forged, moments_forged, display_forged, outcome_forged, resolution_forged),
    *(mistakes_in_the_spec, key_of_the_config_renamed, suspended, metadata_edited, parts_edited, parts_deleted),
)
