from __future__ import annotations

from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

import pytest

from trainwright_operator.children import child, kind_for, read_child

from .child_specs import BACKENDS, UID, child_spec, sized


def stored(backend: str, **changes: Any) -> dict[str, Any]:
    """Return a child as the API server stores it."""
    raw = deepcopy(dict(child(child_spec(backend, **changes))))
    raw["metadata"] |= {"uid": "u-1", "creationTimestamp": "2026-11-21T12:00:00Z"}
    return raw


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("named", [True, False])
def test_what_is_built_is_read_again(backend: str, named: bool) -> None:
    raw = stored(backend, attempt=12, stage="evaluate")
    if not named:  # as in the items of a list
        del raw["kind"], raw["apiVersion"]
    found = read_child(raw)
    assert found is not None
    assert (found.kind, found.namespace, found.uid, found.job_uid) == (kind_for(backend).name, "teams", "u-1", UID)
    assert (found.name, found.attempt, found.stage) == ("flights-1c9e2f7a-12-evaluate", 12, "evaluate")
    assert (found.state, found.deleting) == ("pending", False)
    assert found.created == datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.mark.parametrize(("backend", "pods"), [("local", 1), ("ray", 3), ("horovod", 2), ("deepspeed", 2)])
def test_it_says_of_how_many_pods_it_is_made(backend: str, pods: int) -> None:
    """Two workers. Ray adds a head."""
    found = read_child(stored(backend, resolved=sized(2)))
    assert found is not None
    assert found.pods == pods


def test_labels_that_a_user_has_changed_mislead_nobody() -> None:
    raw = stored("local", attempt=2)
    raw["metadata"]["labels"] = {"trainwright.dev/attempt": "7", "trainwright.dev/job-uid": "other"}
    found = read_child(raw)
    assert found is not None
    assert (found.attempt, found.job_uid) == (2, UID)


def test_an_object_of_another_name_is_none_of_the_operators() -> None:
    raw = stored("local", attempt=2)
    raw["metadata"]["name"] = "copied"
    assert read_child(raw) is None


@pytest.mark.parametrize(
    "owners",
    [
        None,
        [],
        [{"apiVersion": "ray.io/v1", "kind": "RayJob", "uid": "r", "controller": True}],
        [{"apiVersion": "trainwright.dev/v1alpha1", "kind": "TrainingJob", "uid": UID}],
        [{"apiVersion": "elsewhere.dev/v1", "kind": "TrainingJob", "uid": UID, "controller": True}],
    ],
    ids=["no owners", "empty", "KubeRay's submitter", "not its controller", "another group"],
)
def test_what_no_job_controls_is_not_ours(owners: Any) -> None:
    raw = stored("local")
    raw["metadata"]["ownerReferences"] = owners
    assert read_child(raw) is None


def test_another_kind_is_not_ours() -> None:
    assert read_child({**stored("local"), "kind": "ConfigMap"}) is None


def test_one_that_is_being_deleted_says_so() -> None:
    raw = stored("ray")
    raw["metadata"]["deletionTimestamp"] = "2026-11-21T13:00:00Z"
    found = read_child(raw)
    assert found is not None
    assert found.deleting
