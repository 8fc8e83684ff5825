"""Limits the time that an attempt may take to start, and determines its ending if it does not.

The pods of one child can only work all together, so a pod that has a node cannot use it while another pod finds none. A
gang releases its nodes at the start deadline, and soon if other jobs wait for room: otherwise jobs that would
each fit alone could hold parts of the nodes against each other for ever. Among gangs that try at the same time, the
oldest keeps its nodes twice as long, so one of them gets the nodes that the others release.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from trainwright_api.resource.status import Attempt
from trainwright_operator.children.pods import GRACE_SECONDS
from trainwright_operator.model import times
from trainwright_operator.model.observed import Child, Pod, Snapshot, Waiting
from trainwright_operator.policies.outcome import Ending

UNSCHEDULABLE = "Unschedulable"
"""The reason of an attempt that released its nodes."""
DEADLINE = "StartDeadlineExceeded"
NOT_CREATED = "some of them were not created"
OF_IMAGES = (
    "ErrImagePull",
    "ImagePullBackOff",
    "InvalidImageName",
    "ErrImageNeverPull",
    "ImageInspectError",
    "RegistryUnavailable",
    "SignatureValidationFailed",
)
"""The kubelet's reasons for a container whose image is missing."""


def released_its_nodes(attempt: Attempt) -> bool:
    return attempt.outcome == "stopped" and attempt.reason == UNSCHEDULABLE


def deadline(pods: Iterable[Pod], seconds: int) -> datetime | None:
    """Return the start deadline, None while no pod has a node, since nothing is held then."""
    found = _first_scheduled(pods)
    return None if found is None else times.after(found, seconds)


def gives_way(child: Child, pods: tuple[Pod, ...], snapshot: Snapshot, grace: float) -> datetime | None:
    """Return the time at which an unplaced gang makes room for other waiting jobs; None if there are none.

    It counts from the time at which the last of its pods found no room. A gang that holds nothing also makes room,
    because it would take the first part that becomes free and hold it. Released room becomes free only when the pods
    are gone, which takes up to their grace period.
    """
    if all(one.uid == child.job_uid for one in snapshot.waiting):
        return None
    trying = next((one.uid for one in snapshot.waiting if one.gang and one.trying), child.job_uid)
    seconds = 2 * grace if trying == child.job_uid else grace
    if snapshot.others_stopping:
        seconds += GRACE_SECONDS
    since = max((pod.unschedulable_since for pod in pods if pod.unschedulable_since), default=child.created)
    return times.after(since, seconds)


def is_placed(child: Child, pods: Iterable[Pod]) -> bool:
    """True if all of its pods have a node, including the submitter once it exists."""
    live = [pod for pod in pods if not pod.ended]
    return sum(pod.scheduled is not None for pod in live) >= child.pods and not any(pod.unschedulable for pod in live)


def unplaced(pods: Iterable[Pod]) -> list[Pod]:
    """Return the pods that find no room."""
    return [pod for pod in pods if pod.unschedulable and not pod.ended]


def unplaced_since(pods: Iterable[Pod]) -> datetime | None:
    """Return since when the first of the pods that find no room has waited."""
    return min((pod.unschedulable_since for pod in unplaced(pods) if pod.unschedulable_since), default=None)


def others_try(uid: str, waiting: Iterable[Waiting]) -> bool:
    """True if another gang is being scheduled: two gangs would take the nodes from each other."""
    return any(one.gang and one.trying for one in waiting if one.uid != uid)


def ending(child: Child, pods: tuple[Pod, ...], seconds: int | None) -> Ending:
    """Return the ending of a child that has not started within `seconds`; None: it makes room for others before that.

    A cause that the user must fix is an environment failure; a new attempt needs a new job. A gang without room is
    stopped, which counts against no limit.
    """
    blocked = next((pod for pod in pods if pod.waiting and not pod.ended), None)
    reason = f"pod {blocked.name}: {blocked.waiting}" if blocked is not None else ""
    limit = f"within startDeadlineSeconds ({seconds:,} s)" if seconds is not None else ""
    if limit and blocked is not None and blocked.waiting.partition(":")[0] in OF_IMAGES:
        return Ending("environment", DEADLINE, f"image {blocked.waiting_image} could not be pulled {limit}: {reason}")
    if not is_placed(child, pods):
        why = next((pod.unschedulable for pod in pods if pod.unschedulable), child.pods_refused or NOT_CREATED)
        return Ending("stopped", UNSCHEDULABLE, f"not all of its pods found room: {why}")
    if reason:
        return Ending("environment", DEADLINE, f"it did not start {limit}: {reason}")
    return Ending("infrastructure", DEADLINE, f"{child.kind} {child.name} did not run {limit}")


def _first_scheduled(pods: Iterable[Pod]) -> datetime | None:
    return min((pod.scheduled for pod in pods if pod.scheduled and not pod.ended), default=None)
