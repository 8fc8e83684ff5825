from __future__ import annotations

import asyncio
from typing import Any

import pytest

from trainwright_operator.informer.owners import Chain, Owners
from trainwright_operator.kube.client import ApiError
from trainwright_operator.model.observed import Owner, Pod

from ..fake_api import FakeApi
from ..owned import owned_by

JOB = "uid-of-flights"


def api(*objects: tuple[str, str, list[dict[str, Any]]]) -> FakeApi:
    """An API server with these objects: kind, name and owner references. Their uids are `uid-NAME`."""
    made = FakeApi()
    for kind, name, owners in objects:
        made.add(
            {
                "kind": kind,
                "metadata": {"namespace": "team", "name": name, "uid": f"uid-{name}", "ownerReferences": owners},
            }
        )
    return made


def pod(kind: str = "", name: str = "", group: str = "batch", **fields: Any) -> Pod:
    owner = Owner(kind, group, name, f"uid-{name}") if kind else None
    return Pod("team", "p", "uid-p", JOB, 1, "node-1", "Running", owner=owner, **fields)


OURS = owned_by("TrainingJob", "flights", JOB)
RAY = [
    ("RayJob", "ray", OURS),
    ("RayCluster", "ray-abcde", owned_by("RayJob", "ray", "uid-ray")),
    ("Job", "submits", owned_by("RayJob", "ray", "uid-ray")),
]


def follow(found: FakeApi, of: Pod) -> Chain:
    return asyncio.run(Owners(found.find).follow(of))


def test_the_chains_of_the_pods_that_a_job_has() -> None:
    assert follow(api(("Job", "one", OURS)), pod("Job", "one")) == "whole"
    assert follow(api(*RAY), pod("RayCluster", "ray-abcde", "ray.io")) == "whole"
    assert (
        follow(api(RAY[0], ("Job", "submits", owned_by("RayJob", "ray", "uid-ray"))), pod("Job", "submits")) == "whole"
    )


@pytest.mark.parametrize(
    "made",
    [
        pod(),
        pod("ReplicaSet", "web", "apps"),
        pod("Job", "one", "elsewhere.dev"),
        pod("Job", "theirs"),
        pod("Job", "free"),
        pod("Job", "round"),
    ],
    ids=["no owner", "another controller", "another group", "the Job of another", "a Job of nobody", "a circle"],
)
def test_a_label_alone_makes_no_pod_of_a_job(made: Pod) -> None:
    theirs = owned_by("TrainingJob", "flights", "uid-of-another")
    circle = owned_by("Job", "round", "uid-round")
    found = api(("Job", "one", OURS), ("Job", "theirs", theirs), ("Job", "free", []), ("Job", "round", circle))
    assert follow(found, made) == "foreign"


@pytest.mark.parametrize("missing", [0, 1])
def test_where_an_owner_is_gone_the_pod_is_there_and_only_its_eviction_counts(missing: int) -> None:
    found = api(*(one for number, one in enumerate(RAY[:2]) if number != missing))
    owners, made = (
        Owners(found.find),
        pod("RayCluster", "ray-abcde", "ray.io", termination_message="mistake", disrupted="x"),
    )
    assert asyncio.run(owners.follow(made)) == "broken"
    admitted = owners.admitted(made)
    assert admitted is not None
    assert (admitted.phase, admitted.termination_message, admitted.disrupted) == ("Running", "", "x")


def test_an_object_that_has_taken_the_name_of_an_owner_is_another() -> None:
    made = Pod("team", "p", "uid-p", JOB, 1, None, "Pending", owner=Owner("Job", "batch", "one", "uid-before"))
    assert follow(api(("Job", "one", OURS)), made) == "broken"


def test_each_owner_is_read_once_and_a_child_that_is_known_never() -> None:
    found = api(*RAY)
    owners = Owners(found.find)
    owners.learn("uid-ray", JOB)
    for _ in range(3):
        asyncio.run(owners.follow(pod("RayCluster", "ray-abcde", "ray.io")))
    assert found.requests == ["get RayCluster/ray-abcde"]
    assert owners.admitted(pod("RayCluster", "ray-abcde", "ray.io")) is not None
    assert owners.admitted(pod("Job", "unknown")) is None


def test_an_api_server_that_does_not_answer_settles_nothing() -> None:
    found = api(*RAY)

    def refuses(verb: str, what: str) -> None:
        raise ApiError(500, "InternalError", f"{verb} {what}")

    owners, made = Owners(found.find), pod("RayCluster", "ray-abcde", "ray.io")
    found.fault = refuses
    with pytest.raises(ApiError):
        asyncio.run(owners.follow(made))
    found.fault = None
    assert asyncio.run(owners.follow(made)) == "whole"
