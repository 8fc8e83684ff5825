"""Edits that do not belong in a job's life: of its spec and the objects that it has created, and an erased status."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from testkit.api import Api, ApiError, Manifest, Resource
from testkit.api.resource import CHILDREN, PODS, SHARED_KINDS, TRAINING_JOBS
from testkit.contract.mutations import mutated
from trainwright_operator.model import names

TRIES = 30
"""The API server refuses most random mistakes."""
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


async def status_erased(editor: ManualEditor) -> str:
    gone = sorted((await editor.job()).get("status", {}))
    await editor.api.patch_status(TRAINING_JOBS, editor.name, editor.namespace, dict.fromkeys(gone))
    return str(gone) if gone else ""


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
    """Labels of children, pods and supports: removed or wrong."""
    found, draw = await editor.one_of(*CHILDREN, *SHARED_KINDS, PODS), editor.draw
    if found is None:
        return ""
    resource, one = found
    label = draw.choice([names.JOB_UID, names.JOB_NAME, names.ATTEMPT, names.STAGE, names.MANAGED_BY])
    changes = draw.choice(
        [
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
    *(status_erased, mistakes_in_the_spec, key_of_the_config_renamed),
    *(suspended, metadata_edited, parts_edited, parts_deleted),
)
