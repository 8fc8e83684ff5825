"""The chains of owner references from pods to their jobs.

The labels of a pod only name the job that it claims: everybody who may create pods in a namespace can set them. Its
controller is a Job, which the TrainingJob owns, or a RayCluster or Job of a RayJob, which the TrainingJob owns.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Literal

from trainwright_operator.children.kinds import KINDS
from trainwright_operator.children.origin import controller_of
from trainwright_operator.kube.resources import TRAINING_JOBS, Resource
from trainwright_operator.model.observed import Manifest, Owner, Pod
from trainwright_operator.model.reading import mapping

Chain = Literal["whole", "broken", "foreign"]
"""whole: it leads to the job. broken: an owner is gone, so the garbage collector deletes the pod. foreign: it leads
elsewhere."""
Find = Callable[[Resource, str, str], Awaitable[Manifest | None]]

LINKS = {
    (resource.kind, resource.group): resource for kind in KINDS for resource in (kind.resource, *kind.owners_of_pods)
}
"""The resources of the owners between a pod and its job, by kind and group."""
LONGEST_CHAIN = 2
"""The most owners between a pod and its job: the RayCluster, or the Job that submits, and the RayJob."""
MAX_OWNERS = 20_000
"""The maximum number of owners that are remembered."""


class Owners:
    """Reads each owner once: an object keeps its controller. `find` returns None for an object that does not exist."""

    def __init__(self, find: Find) -> None:
        self._find = find
        self._chains: OrderedDict[tuple[str, str], Chain] = OrderedDict()

    def learn(self, uid: str, job_uid: str) -> None:
        """Note that the job owns the object."""
        self._note(uid, job_uid, "whole")

    def known(self, pod: Pod) -> Chain | None:
        """Return the chain of a pod, None if it has not been followed yet."""
        return "foreign" if pod.owner is None else self._known(pod.owner, pod.job_uid)

    def admitted(self, pod: Pod) -> Pod | None:
        """Return the pod as a decision may see it. With a broken chain it is there, and its program tells nothing.

        Its eviction still counts: only the control plane writes that condition, often after the RayCluster is gone.
        """
        chain = self.known(pod)
        if chain == "broken":
            return replace(pod, exit_code=None, termination_message="", reason="", waiting="")
        return pod if chain == "whole" else None

    async def follow(self, pod: Pod) -> Chain:
        """Return the chain of a pod, read from the API server if it is not known."""
        if pod.owner is None:
            return "foreign"
        return await self._follow(pod.namespace, pod.owner, pod.job_uid, LONGEST_CHAIN)

    def _known(self, owner: Owner, job_uid: str) -> Chain | None:
        if (owner.kind, owner.group) == (TRAINING_JOBS.kind, TRAINING_JOBS.group):
            return "whole" if owner.uid == job_uid else "foreign"
        return self._chains.get((owner.uid, job_uid))

    async def _follow(self, namespace: str, owner: Owner, job_uid: str, left: int) -> Chain:
        known = self._known(owner, job_uid)
        if known is None:
            known = await self._read(namespace, owner, job_uid, left)
            self._note(owner.uid, job_uid, known)
        return known

    async def _read(self, namespace: str, owner: Owner, job_uid: str, left: int) -> Chain:
        link = LINKS.get((owner.kind, owner.group))
        if link is None or left == 0:
            return "foreign"
        found = await self._find(link, namespace, owner.name)
        if found is None or mapping(found, "metadata").get("uid") != owner.uid:
            return "broken"
        above = controller_of(mapping(found, "metadata"))
        return "foreign" if above is None else await self._follow(namespace, above, job_uid, left - 1)

    def _note(self, uid: str, job_uid: str, chain: Chain) -> None:
        self._chains[uid, job_uid] = chain
        self._chains.move_to_end((uid, job_uid))
        if len(self._chains) > MAX_OWNERS:
            self._chains.popitem(last=False)
