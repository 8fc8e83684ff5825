"""The end of a running pod at the time that its script sets."""

from __future__ import annotations

from testkit.api import Manifest
from testkit.api.resource import PODS
from testkit.simulators import children, pod_status, scripts
from testkit.simulators.children import origin
from testkit.simulators.mirror import job_uid
from testkit.simulators.scripts import Evict, Fail, LoseHead, LoseNode, Preempt, Script, StopWhenAsked, Succeed
from testkit.simulators.shared_state import SharedState
from trainwright_api.resource.messages import termination_message
from trainwright_operator.model import names

STOPPED = 75
SUBMITTER_FAILED = 1
"""`ray job submit` exits with this code for every failure of the training."""


class Ending:
    def __init__(self, shared: SharedState) -> None:
        self._shared = shared

    def is_asked_for(self, pod: Manifest, script: Script) -> bool:
        """True if the pod may end. A pod that stops on request runs until the status asks it to stop."""
        if not isinstance(script, StopWhenAsked):
            return True
        key = (pod["metadata"]["namespace"], pod["metadata"].get("labels", {}).get(names.JOB_NAME, ""))
        job = self._shared.training_jobs.objects.get(key)
        if job is None or job["metadata"]["uid"] != job_uid(pod):
            return False
        attempts = job.get("status", {}).get("attempts", ())
        number = origin(pod).attempt
        return any(attempt["number"] == number and "stopTime" in attempt for attempt in attempts)

    async def status(self, pod: Manifest, script: Script) -> Manifest | None:
        """The pod's last status; None if another component than its kubelet ends it, or if nothing does."""
        match script:
            case Succeed():
                return await self._succeeded(pod, script)
            case Fail():
                return await self._failed(pod, script)
            case StopWhenAsked():
                await self._shared.posts.outcome(pod, scripts.outcome_of(pod, script))
                return pod_status.ended(pod, _exit_code(pod, STOPPED))
            case LoseHead() | LoseNode() | Preempt() | Evict():
                await self._taken(self._victim(pod), script)
        return None

    async def _succeeded(self, pod: Manifest, script: Succeed) -> Manifest:
        outcome = scripts.outcome_of(pod, script)
        if script.reported_by == "posted" and children.is_first(pod):
            await self._shared.posts.outcome(pod, outcome)
        return pod_status.ended(
            pod, 0, termination_message(outcome) if script.reported_by == "termination message" else ""
        )

    async def _failed(self, pod: Manifest, script: Fail) -> Manifest:
        outcome = scripts.outcome_of(pod, script)
        if script.reported_by == "posted":
            await self._shared.posts.outcome(pod, outcome)
        message = termination_message(outcome) if script.reported_by == "termination message" else script.log
        return pod_status.ended(pod, _exit_code(pod, script.exit_code), message)

    def _victim(self, pod: Manifest) -> Manifest:
        """The head of a RayJob, otherwise the pod itself."""
        return (children.head_of(pod, self._shared.pods) or pod) if children.is_submitter(pod) else pod

    async def _taken(self, pod: Manifest, script: Script) -> None:
        match script:
            case LoseHead():
                await self._delete(pod, grace=0)
            case LoseNode():
                await self._lose_node(pod["spec"]["nodeName"])
            case Preempt():
                message = "default-scheduler: preempting to accommodate a higher priority pod"
                await self._write(pod, pod_status.disrupted(pod, "PreemptionByScheduler", message))
                await self._delete(pod)
            case Evict():
                await self._write(pod, pod_status.evicted(pod))

    async def _lose_node(self, name: str) -> None:
        """Only pods of jobs: other tests may have pods on an invented node of the same name."""
        await self._shared.nodes.lose(name)
        for pod in self._shared.nodes.pods_on(name):
            self._shared.record.excused.add(pod["metadata"]["uid"])
            await self._write(pod, pod_status.unreachable())
            await self._delete(pod)

    async def _write(self, pod: Manifest, status: Manifest) -> None:
        metadata = pod["metadata"]
        changed = {"metadata": {"uid": metadata["uid"]}, "status": status}
        self._shared.pods.put(
            await self._shared.api.patch(PODS, metadata["name"], metadata["namespace"], changed, "status")
        )

    async def _delete(self, pod: Manifest, grace: int | None = None) -> None:
        metadata = pod["metadata"]
        await self._shared.api.delete(PODS, metadata["name"], metadata["namespace"], grace=grace, uid=metadata["uid"])


def _exit_code(pod: Manifest, training: int) -> int:
    return SUBMITTER_FAILED if children.is_submitter(pod) and training else training
