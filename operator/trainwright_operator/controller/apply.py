"""Carries out a Plan: creations, deletions, one status, then events. It makes no decisions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from trainwright_api.resource.status import TrainingJobStatus
from trainwright_operator.controller.event_recorder import EventRecorder
from trainwright_operator.kube.client import ApiError, Client
from trainwright_operator.kube.resources import SECRETS, TRAINING_JOBS, Resource, of_kind
from trainwright_operator.model.observed import Job, Manifest
from trainwright_operator.model.plan import Deletion, Event, Plan
from trainwright_operator.model.reading import mappings

FIELD_MANAGER = "trainwright"
OF_THE_PODS: Mapping[str, Any] = {
    "progress": True,
    "outcome": True,
    "resolved": {"batch_size": True, "global_batch_size": True, "learning_rate_factor": True},
}
"""The fields that the progress endpoint writes, under its own field manager."""
# Status codes that the same request gets again until somebody changes something.
_FINAL = (400, 403, 404, 405, 413, 422)


class Stale(Exception):
    """The job has changed since it was observed. Nothing was done; the informer has its new state."""


class Vanished(Exception):
    """The job is gone."""


class Refused(Exception):
    """An object of the plan cannot be created, and an immediate retry does not help. The text is one line."""


class Foreign(Refused):
    """Another object already has the name."""


class Applier:
    """Applies plans. `note` receives every TrainingJob that the API server returns."""

    def __init__(
        self, client: Client, note: Callable[[Manifest], Any], now: Callable[[], datetime], identity: str = ""
    ) -> None:
        self._client = client
        self._note = note
        self.recorder = EventRecorder(client, now, identity)

    async def carry_out(self, job: Job, plan: Plan) -> None:
        """Carry out the plan, up to the first ApiError, Stale, Vanished or Refused."""
        if plan.create or plan.delete:
            await self._check_unchanged(job)
        await self._create_all(job, plan.create)
        for deletion in plan.delete:
            await self._delete(job, deletion)
        if plan.status is not None:
            await self._write(job, plan.status)
            self.recorder.difference(job, plan.status)
        if plan.reset:
            await self._reset(job, plan.reset)

    async def _check_unchanged(self, job: Job) -> Manifest:
        """Return the job's current object.

        Raises Stale if it has changed since it was observed, Vanished if it is gone. A slow cache may hold an old
        state, which must not start anything, nor delete anything that is newer.
        """
        fresh = await self._client.find(TRAINING_JOBS, job.namespace, job.name)
        if fresh is None:
            raise Vanished
        if fresh["metadata"].get("resourceVersion") != job.resource_version:
            self._note(fresh)
            raise Stale("it has changed since it was seen")
        return fresh

    async def _create_all(self, job: Job, manifests: Sequence[Manifest]) -> None:
        """Create the manifests in order, the child last.

        If one of the others exists already, another operator may be creating the same objects now. So the job is
        checked again before the child is created.
        """
        met = False
        for manifest in manifests:
            if met and manifest is manifests[-1]:
                await self._check_unchanged(job)
            met = await self._create(job, manifest) or met

    async def _create(self, job: Job, manifest: Manifest) -> bool:
        """Create the object. Return True if it exists already. Raises Refused if it cannot be created."""
        try:
            await self._client.create(of_kind(manifest["kind"]), job.namespace, manifest)
            return False
        except ApiError as error:
            if error.already_exists:
                await self._check_ours(job, manifest)
                return True
            if error.status in _FINAL:
                raise Refused(f"{_named(manifest)} cannot be created: {error.message}") from None
            raise

    async def _check_ours(self, job: Job, manifest: Manifest) -> None:
        """Raise Foreign unless an earlier pass created the existing object.

        A Secret is not checked: its name contains the job's uid, and so the operator needs no permission to read
        Secrets.
        """
        resource = of_kind(manifest["kind"])
        if resource == SECRETS:
            return
        found = await self._client.get(resource, job.namespace, manifest["metadata"]["name"])
        if not _belongs(found["metadata"], job.uid):
            raise Foreign(f"{_named(manifest)} exists and does not belong to this job: delete or rename one of them")

    async def _delete(self, job: Job, deletion: Deletion) -> None:
        """Delete the object, by its uid. It is no error if it is gone, or if another object has its name."""
        resource = of_kind(deletion.kind)
        try:
            uid = deletion.uid or await self._uid(job, resource, deletion.name)
            if uid:
                await self._client.delete(
                    resource, deletion.namespace, deletion.name, uid=uid, propagation="Background"
                )
        except ApiError as error:
            if not (error.not_found or error.conflict):
                raise

    async def _uid(self, job: Job, resource: Resource, name: str) -> str:
        """Return the uid of the object of that name, "" if it is not the job's."""
        metadata = (await self._client.get(resource, job.namespace, name))["metadata"]
        return str(metadata["uid"]) if _belongs(metadata, job.uid) else ""

    async def _reset(self, job: Job, reason: str) -> None:
        """Remove the whole status, whoever has written it, and report that once."""
        version = (await self._check_unchanged(job))["metadata"]["resourceVersion"]
        self._note(
            await self._client.remove(
                TRAINING_JOBS, job.namespace, job.name, ["/status"], resource_version=version, subresource="status"
            )
        )
        self.recorder.add(job, Event("Warning", "StatusReset", f"the status could not be read and is reset: {reason}"))

    async def _write(self, job: Job, status: TrainingJobStatus) -> None:
        body = {
            "metadata": {"name": job.name, "namespace": job.namespace, "resourceVersion": job.resource_version},
            "status": own_fields(status),
        }
        try:
            updated = await self._client.apply(
                TRAINING_JOBS, job.namespace, job.name, body, field_manager=FIELD_MANAGER, subresource="status"
            )
        except ApiError as error:
            if error.not_found:
                raise Vanished from None
            if error.conflict:
                # The cache may stay old for a while: without this check, the next pass would fail in the same way.
                await self._check_unchanged(job)
            raise
        self._note(updated)


def own_fields(status: TrainingJobStatus) -> Mapping[str, Any]:
    """Return the status without the fields of the progress endpoint.

    Under server-side apply, a field that is missing here is released.
    """
    return status.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=OF_THE_PODS)


def _belongs(metadata: Mapping[str, Any], uid: str) -> bool:
    """True if the job owns the object."""
    return any(owner.get("uid") == uid for owner in mappings(metadata.get("ownerReferences")))


def _named(manifest: Manifest) -> str:
    return f"{manifest['kind']} {manifest['metadata']['name']}"
