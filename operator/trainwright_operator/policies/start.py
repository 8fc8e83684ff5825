"""How long an attempt may try to start, and what comes of one that does not.

The pods of one child work together or not at all, so those that have a node hold it for nothing while another finds
none. A gang gives such room back at the start deadline; and soon while other jobs wait for room, since jobs that each
fit alone would else hold parts of it against each other for ever. Among gangs that try at the same time, the oldest
keeps its part twice as long: so one of them gets what the others give back.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from trainwright_api.resource.status import Attempt
from trainwright_operator.children.pods import GRACE_SECONDS
from trainwright_operator.model import times
from trainwright_operator.model.observed import Child, Pod, Waiting, World
from trainwright_operator.policies.outcome import Ending

UNSCHEDULABLE = "Unschedulable"
"""The reason of an attempt that gave its room back."""
DEADLINE = "StartDeadlineExceeded"
OF_IMAGES = (
    "ErrImagePull",
    "ImagePullBackOff",
    "InvalidImageName",
    "ErrImageNeverPull",
    "ImageInspectError",
    "RegistryUnavailable",
    "SignatureValidationFailed",
)
"""The kubelet's reasons for a container without its image."""


def gave_room_back(attempt: Attempt) -> bool:
    return attempt.outcome == "stopped" and attempt.reason == UNSCHEDULABLE


def deadline(pods: Iterable[Pod], seconds: int) -> datetime | None:
    """None while no pod has a node: nothing is held then."""
    found = _first_scheduled(pods)
    return None if found is None else times.after(found, seconds)


def gives_way(child: Child, pods: tuple[Pod, ...], world: World, grace: float) -> datetime | None:
    """When a gang that is not placed makes room for the other jobs that wait for it; None where there are none.

    It is counted from the last of its pods that found no room. A gang that holds nothing makes room too: it would
    take the first part that comes free, and hold that. What others have given back is only free when their pods are
    gone, which may take as long as pods have for their end.
    """
    if all(one.uid == child.job_uid for one in world.waiting):
        return None
    trying = next((one.uid for one in world.waiting if one.gang and one.trying), child.job_uid)
    patience = 2 * grace if trying == child.job_uid else grace
    if world.leaving:
        patience += GRACE_SECONDS
    since = max((pod.unschedulable_since for pod in pods if pod.unschedulable_since), default=child.created)
    return times.after(since, patience)


def is_placed(child: Child, pods: Iterable[Pod]) -> bool:
    """Whether all of its pods have a node, the one that submits included, once that is there."""
    live = [pod for pod in pods if not pod.ended]
    return sum(pod.scheduled is not None for pod in live) >= child.pods and not any(pod.unschedulable for pod in live)


def others_try(uid: str, waiting: Iterable[Waiting]) -> bool:
    """Whether another gang is on its way to its places: two would only take them from each other."""
    return any(one.gang and one.trying for one in waiting if one.uid != uid)


def ending(child: Child, pods: tuple[Pod, ...], image: str | None, seconds: int | None) -> Ending:
    """Of a child that has not started in so many seconds; None: it makes room for others before.

    What needs mending by its user is an environment's failure, and tried again only when the job is made anew. A gang
    without room is stopped, which counts against no limit.
    """
    held_up = next((pod for pod in pods if pod.waiting and not pod.ended), None)
    told = f"pod {held_up.name}: {held_up.waiting}" if held_up is not None else ""
    limit = f"within startDeadlineSeconds ({seconds:,} s)" if seconds is not None else ""
    if limit and held_up is not None and held_up.waiting.partition(":")[0] in OF_IMAGES:
        return Ending("environment", DEADLINE, f"image {image} could not be pulled {limit}: {told}")
    if not is_placed(child, pods):
        why = next((pod.unschedulable for pod in pods if pod.unschedulable), "some of them were not made")
        return Ending("stopped", UNSCHEDULABLE, f"not all of its pods found room: {why}")
    if told:
        return Ending("environment", DEADLINE, f"it did not start {limit}: {told}")
    return Ending("infrastructure", DEADLINE, f"{child.kind} {child.name} was not at work {limit}")


def _first_scheduled(pods: Iterable[Pod]) -> datetime | None:
    return min((pod.scheduled for pod in pods if pod.scheduled and not pod.ended), default=None)
