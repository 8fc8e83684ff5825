"""The trainers' reports, written as the operator's endpoint writes them: own field manager, always the full set."""

from __future__ import annotations

from typing import Any

from testkit.api import Api, ApiError, Manifest
from testkit.api.resource import TRAINING_JOBS
from testkit.simulators.origin import origin
from testkit.simulators.times import now
from trainwright_api.resource.messages import OutcomeMessage
from trainwright_operator.model import names

MANAGER = "trainwright-progress"


class Posts:
    def __init__(self, api: Api) -> None:
        self._api = api
        self._posted: dict[str, Manifest] = {}

    async def outcome(self, pod: Manifest, outcome: OutcomeMessage) -> None:
        posted = outcome.model_dump(mode="json", by_alias=True, exclude_none=True)
        words = {"outcome": posted.pop("class"), "message": posted.pop("line"), "postTime": now()}
        await self._post(pod, "outcome", {**posted, **words})

    async def progress(self, pod: Manifest, **progress: Any) -> None:
        """Post progress with the status' fields: summary, fraction, epoch, metrics …"""
        await self._post(pod, "progress", {"updateTime": now(), **progress})

    async def _post(self, pod: Manifest, section: str, posted: Manifest) -> None:
        """Skips a job that is gone or was replaced by one of the same name, and a pod without labels."""
        labels, namespace = pod["metadata"].get("labels", {}), pod["metadata"]["namespace"]
        uid, name = labels.get(names.JOB_UID), labels.get(names.JOB_NAME)
        if not (uid and name):
            return
        status = self._posted.setdefault(uid, {})
        status[section] = {"attempt": origin(pod).attempt, **posted}
        job = {"metadata": {"name": name, "uid": uid}, "status": status}
        try:
            await self._api.apply(TRAINING_JOBS, job, MANAGER, namespace, "status")
        except ApiError as error:
            if error.code not in (404, 409):
                raise
