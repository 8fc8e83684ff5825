"""Random histories of a job, where the operator dies between any two requests: the invariants hold after every step."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from trainwright_api.resource.status import TrainingJobStatus
from trainwright_operator.model.observed import Pod, Waiting

from .elastic_cluster import node
from .simulation import SPEC, UID, Cluster

RAY = {"type": "ray", "trainer": {"num_workers": 2}}
GANG = {"type": "horovod", "trainer": {"num_workers": 2}}
GPUS = {
    "type": "ray",
    "cache_dir": "s3://data/cache",
    "trainer": {"num_workers": 2, "resources_per_worker": {"GPU": 1}},
}
ELASTIC = {"type": "ray", "cache_dir": "/cache", "trainer": {"num_workers": {"min": 1, "max": 4}, "use_gpu": True}}
CODES = (0, 1, 2, 3, 75, 137)


def a_pass(cluster: Cluster, draw: random.Random) -> None:
    cluster.run(requests=draw.choice([None, None, 0, 1, 2, 3]))


def starts(cluster: Cluster, draw: random.Random) -> None:  # noqa: ARG001
    for child in cluster.children.values():
        if child.state == "pending":
            cluster.children[child.name] = replace(child, state="running", started=cluster.now)
            number = child.attempt
            cluster.pods[child.name] = Pod(
                "default", child.name, f"p{number}", UID, number, "node", "Running", child.stage, ready=True
            )


def finds_no_room(cluster: Cluster, draw: random.Random) -> None:
    """No room is found for one of the pods, or no pod starts. Other jobs may wait for room too."""
    for child in cluster.children.values():
        if child.state == "pending" and child.name not in cluster.pods:
            placed = Pod("default", child.name, f"p{child.attempt}", UID, child.attempt, "node", "Pending", child.stage)
            refused = replace(placed, name=f"{child.name}-2", uid="p", node=None, unschedulable="Insufficient cpu")
            cluster.pods[child.name] = replace(placed, scheduled=cluster.now, waiting=draw.choice(["", "ErrImagePull"]))
            if child.pods > 1:
                cluster.pods[refused.name] = replace(refused, unschedulable_since=cluster.now)
    others = Waiting("2026-11-21T12:00:00Z", "another", gang=draw.random() < 0.5, trying=draw.random() < 0.5)
    cluster.waiting = draw.choice([(), (others,)])


def ends(cluster: Cluster, draw: random.Random) -> None:
    for child in cluster.children.values():
        if child.state == "running":
            code = draw.choice(CODES)
            state = "succeeded" if code == 0 else "failed"
            cluster.children[child.name] = replace(child, state=state, finished=cluster.now, exit_code=code)
            if child.name in cluster.pods:
                ended = replace(cluster.pods[child.name], phase=state.capitalize(), exit_code=code)
                cluster.pods[child.name] = replace(ended, disrupted=draw.choice(["", "", "EvictionByEvictionAPI"]))


def posts(cluster: Cluster, draw: random.Random) -> None:
    if cluster.children:
        cluster.posts(draw.choice(["done", "mistake", "environment", "crash", "stopped"]), "a line")


def pods_go(cluster: Cluster, draw: random.Random) -> None:  # noqa: ARG001
    cluster.pods = {name: pod for name, pod in cluster.pods.items() if name in cluster.children}


def waits(cluster: Cluster, draw: random.Random) -> None:
    cluster.wait(draw.choice([1, 10, 130, 1000]))


def suspends(cluster: Cluster, draw: random.Random) -> None:  # noqa: ARG001
    cluster.change(suspend=not cluster.spec.get("suspend"))


def nodes_move(cluster: Cluster, draw: random.Random) -> None:
    cluster.nodes = tuple(node(f"node-{index}", draw.randint(0, 3)) for index in range(draw.randint(0, 3)))


def queue_moves(cluster: Cluster, draw: random.Random) -> None:
    for child in cluster.children.values():
        state = draw.choice(["suspended", "pending"])
        if child.state in ("pending", "suspended", "running"):
            cluster.children[child.name] = replace(child, state=state)


def a_hand_deletes(cluster: Cluster, draw: random.Random) -> None:  # noqa: ARG001
    cluster.deleted_by_hand |= set(cluster.children)
    cluster.children.clear()


def status_is_reset(cluster: Cluster, draw: random.Random) -> None:  # noqa: ARG001
    cluster.status = TrainingJobStatus()


Action = Callable[[Cluster, random.Random], None]
ACTIONS: tuple[Action, ...] = (
    *(starts, ends, posts, pods_go, waits, suspends, queue_moves, a_hand_deletes),
    finds_no_room,
    nodes_move,
)


@pytest.mark.parametrize(
    "backend", [{"type": "local"}, RAY, GANG, GPUS, ELASTIC], ids=["local", "ray", "gang", "gpus", "elastic"]
)
@pytest.mark.parametrize("seed", [*range(12), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(12, 200))])
def test_whatever_happens_the_job_comes_to_rest(seed: int, backend: dict[str, object]) -> None:
    draw = random.Random(seed)
    spec = {
        **SPEC,
        "backend": backend,
        "backoffLimit": 2,
        "preemptionLimit": 2,
        "resizeLimit": 3,
        "ttlSecondsAfterFinished": 500,
    }
    if draw.random() < 0.3:
        spec["activeDeadlineSeconds"] = 900
    cluster = Cluster(spec=spec)
    newest, end = 0, None
    for _ in range(80):
        a_pass(cluster, draw)
        draw.choice(ACTIONS)(cluster, draw)
        assert len(cluster.children) <= 1, "at most one live child"
        assert (cluster.status.attempt or 0) >= newest, "numbers never go back"
        newest = cluster.status.attempt or 0
        sizes = [attempt.workers or 1 for attempt in cluster.status.attempts or ()]
        assert all(1 <= size <= 4 for size in sizes), "a range is kept"
        assert (cluster.status.resizes or 0) <= 3, "the limit is kept"
        end = end or _end(cluster)
        assert _end(cluster) == end, "a finished job never leaves its end"
    twice = {name for name in cluster.created if cluster.created.count(name) > 1}
    assert twice <= cluster.deleted_by_hand, "no attempt is created twice"
    _comes_to_an_end(cluster, draw)


@pytest.mark.parametrize("backend", [{"type": "local"}, GPUS, ELASTIC], ids=["local", "gpus", "elastic"])
@pytest.mark.parametrize("seed", [*range(12), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(12, 300))])
def test_a_status_that_is_reset_at_any_moment_does_no_harm(seed: int, backend: dict[str, object]) -> None:
    draw = random.Random(seed)
    cluster = Cluster(spec={**SPEC, "backend": backend, "backoffLimit": 2})
    for _ in range(60):
        a_pass(cluster, draw)
        draw.choice((*ACTIONS, status_is_reset))(cluster, draw)
        assert len(cluster.children) <= 1, "at most one live child"
    _comes_to_an_end(cluster, draw)


def _comes_to_an_end(cluster: Cluster, draw: random.Random) -> None:
    """If the user lets it run, and pods start and end well, every job completes or has finally failed."""
    cluster.spec["suspend"] = False
    cluster.waiting = ()
    for _ in range(60):
        cluster.settle()
        pods_go(cluster, draw)
        for child in cluster.children.values():
            if child.state == "suspended":
                cluster.children[child.name] = replace(child, state="pending")
        cluster.settle()
        starts(cluster, draw)
        cluster.settle()
        for child in cluster.children.values():
            if child.state == "running":
                cluster.children[child.name] = replace(child, state="succeeded", finished=cluster.now)
                cluster.pods.pop(child.name, None)
        cluster.settle()
        cluster.wait(1000)
    assert _end(cluster) is not None, cluster.status
    assert cluster.run() == 0


def _end(cluster: Cluster) -> str | None:
    phase = cluster.status.phase
    return phase if phase in ("Complete", "Failed") else None
