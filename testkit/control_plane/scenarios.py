"""Lifecycles in addition to those of the harness: together they need every permission of the operator."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from testkit.api import Manifest
from testkit.api.resource import CONFIG_MAPS, JOBS, NETWORK_POLICIES, PODS, RAY_JOBS, SERVICES, TRAINING_JOBS
from testkit.harness import LIFECYCLES, Kind, Lifecycle
from testkit.harness.lifecycle import NAME, User
from testkit.harness.lifecycles import completes, does
from testkit.simulators import LoseNode, RunForever, Succeed
from trainwright_operator.model import names
from trainwright_operator.policies.refused_pods import FIRST_LOOK_SECONDS


async def loses_its_child_to_somebody(user: User) -> None:
    """The operator checks with a GET that the child is really gone."""
    await user.sees("the running task", does("Running"))  # not its preprocessing, which has a child of its own
    child = (await user.api.get(TRAINING_JOBS, NAME, user.namespace))["status"]["child"]
    for resource in (RAY_JOBS, JOBS):
        await user.api.delete(resource, child, user.namespace)
    await user.sees_true("Complete")


TAKEN: dict[str, Manifest] = {
    CONFIG_MAPS.kind: {"data": {"of": "somebody else"}},
    SERVICES.kind: {"spec": {"clusterIP": "None"}},
    NETWORK_POLICIES.kind: {"spec": {"podSelector": {}}},
}


async def finds_its_names_taken(user: User) -> None:
    """The operator checks the owners of the objects."""
    await user.sees_true("Suspended")
    uid = (await user.api.get(TRAINING_JOBS, NAME, user.namespace))["metadata"]["uid"]
    taken = names.common_name(NAME, uid)
    resources = (CONFIG_MAPS, SERVICES, NETWORK_POLICIES)
    for resource in resources:
        await user.api.create(resource, {"metadata": {"name": taken}, **TAKEN[resource.kind]}, user.namespace)
    await user.change(suspend=False)
    for resource in resources:
        await user.sees("the name", _tells(f"{resource.kind} {taken} exists and does not belong to this job"))
        await user.api.delete(resource, taken, user.namespace)
    await user.sees_true("Complete")


def _tells(line: str) -> Callable[[Manifest], bool]:
    return lambda job: line in job["status"].get("message", "")


PASSED_OVER = 3.0
"""Seconds. For a pod with a grace of 1 s, on a node that is known to be lost, it waits half as long."""


async def goes_on_beside_a_pod_on_a_lost_node(user: User) -> None:
    await _is_left_on_a_lost_node(user)
    await user.sees_true("Complete")
    assert len(await _going(user)) == 1


async def waits_for_a_pod_on_a_lost_node(user: User) -> None:
    """An operator that cannot see nodes does not know that the node is lost."""
    await _is_left_on_a_lost_node(user)
    await asyncio.sleep(PASSED_OVER)
    [pod] = await _going(user)
    assert (await user.api.get(TRAINING_JOBS, NAME, user.namespace))["status"]["attempt"] == 1
    await user.api.delete(PODS, pod, user.namespace, grace=0)
    await user.sees_true("Complete")


async def _is_left_on_a_lost_node(user: User) -> None:
    await user.sees("an attempt that has ended", _first_has_ended)
    [pod] = await _going(user)
    await user.api.delete(PODS, pod, user.namespace, grace=1)


def _first_has_ended(job: Manifest) -> bool:
    return any("completionTime" in attempt for attempt in job.get("status", {}).get("attempts", ()))


async def _going(user: User) -> list[str]:
    pods = (await user.api.list(PODS, user.namespace)).items
    return [pod["metadata"]["name"] for pod in pods if "deletionTimestamp" in pod["metadata"]]


async def takes_the_free_gpus(user: User) -> None:
    await completes(user)
    resolved = (await user.api.get(TRAINING_JOBS, NAME, user.namespace))["status"]["resolved"]
    assert (resolved["workers"], resolved["gpus"]) == (3, 3)


async def takes_all_slices(user: User) -> None:
    """In one pod, with the parameters that KubeRay needs for slices."""
    await completes(user)
    job = await user.api.get(TRAINING_JOBS, NAME, user.namespace)
    assert (job["status"]["resolved"]["workers"], job["status"]["resolved"]["workersPerPod"]) == (SLICES, SLICES)
    made = await user.api.get(RAY_JOBS, job["status"]["child"], user.namespace)
    [group] = made["spec"]["rayClusterSpec"]["workerGroupSpecs"]
    [container] = group["template"]["spec"]["containers"]
    assert (group["replicas"], group["rayStartParams"]["num-gpus"]) == (1, str(SLICES))
    assert container["resources"]["limits"] == {SLICE: str(SLICES)}


async def takes_what_is_asked_for(user: User) -> None:
    """Without access to nodes: the resources as the job requests them."""
    await completes(user)
    job = await user.api.get(TRAINING_JOBS, NAME, user.namespace)
    assert (job["status"]["resolved"]["workers"], job["status"]["resolved"]["gpus"]) == (1, 1)


async def takes_one_worker_without_gpus(user: User) -> None:
    await completes(user)
    job = await user.api.get(TRAINING_JOBS, NAME, user.namespace)
    assert (job["status"]["resolved"]["workers"], job["status"]["resolved"].get("gpus", 0)) == (1, 0)


RAY = {"type": "ray"}
SLICE, SLICES = "nvidia.com/mig-1g.5gb.me", 2
"""A profile that KubeRay does not recognise as a GPU by its name."""
WITH_KEYS = {"type": "horovod", "trainer": {"num_workers": 2}, "cache_credentials": {"key": "x"}}
LOST_CHILD = Lifecycle("a lost child", [RunForever(), Succeed()], loses_its_child_to_somebody)
REFUSED_PODS = Lifecycle("refused pods", [Succeed(unmade=FIRST_LOOK_SECONDS + 1)], completes)
"""The operator reads the events of the Job."""
TAKEN_NAMES = Lifecycle("taken names", [Succeed()], finds_its_names_taken, {"suspend": True})
FREE_GPUS = Lifecycle("free GPUs", [Succeed()], takes_the_free_gpus, {"backend": RAY})
SLICED_GPUS = Lifecycle(
    "slices of a GPU",
    [Succeed()],
    takes_all_slices,
    {"backend": RAY, "gpuResourceName": SLICE, "workersPerPod": "auto"},
)
ASKED_GPUS = Lifecycle(
    "GPUs that are asked for",
    [Succeed()],
    takes_what_is_asked_for,
    {"backend": {**RAY, "trainer": {"resources_per_worker": {"GPU": 1}}}},
)
NOTHING_ASKED = Lifecycle("nothing asked for", [Succeed()], takes_one_worker_without_gpus, {"backend": RAY})
ON_A_LOST_NODE = [LoseNode(after=0.1), Succeed()]
LOST_NODE_SEEN = Lifecycle("a lost node that is seen", ON_A_LOST_NODE, goes_on_beside_a_pod_on_a_lost_node)
LOST_NODE_UNSEEN = Lifecycle("a lost node that is not seen", ON_A_LOST_NODE, waits_for_a_pod_on_a_lost_node)
TTL_WITH_KEYS = Lifecycle(
    "TTL with keys",
    [Succeed()],
    LIFECYCLES["TTL of the children"].scenario,
    {"ttlSecondsAfterFinished": 0, "backend": WITH_KEYS},
)

Lives = Sequence[tuple[Lifecycle, Kind]]
EVERYWHERE: Lives = (
    (LIFECYCLES["success"], "local"),
    (LIFECYCLES["two crashes, then success"], "gang"),
    (LIFECYCLES["suspended and resumed"], "ray"),
    (LIFECYCLES["a preemption, then success"], "ray"),
    (LIFECYCLES["two crashes, then success"], "gpu"),
    (LIFECYCLES["TTL of the job"], "ray"),
    (LIFECYCLES["deleted in the background"], "gang"),
    (LIFECYCLES["deleted in the foreground"], "local"),
    (LOST_CHILD, "local"),
    (LOST_CHILD, "ray"),
    (REFUSED_PODS, "local"),
    (TAKEN_NAMES, "gang"),
    (TTL_WITH_KEYS, "gang"),
)
IN_TEAM_A: Lives = (
    (ASKED_GPUS, "ray"),
    (LIFECYCLES["suspended and resumed"], "ray"),
    (LIFECYCLES["TTL of the job"], "local"),
    (REFUSED_PODS, "local"),
    (TTL_WITH_KEYS, "gang"),
)
IN_TEAM_B: Lives = (
    (NOTHING_ASKED, "ray"),
    (LIFECYCLES["two crashes, then success"], "gang"),
    (LOST_CHILD, "local"),
    (LOST_CHILD, "ray"),
    (REFUSED_PODS, "local"),
    (TAKEN_NAMES, "gang"),
)
