from __future__ import annotations

import pytest

from trainwright_operator.children import child, shared_objects
from trainwright_operator.model import names

from .child_specs import BACKENDS, UID, child_spec, templates

OWNER = {
    "apiVersion": "trainwright.dev/v1alpha1",
    "kind": "TrainingJob",
    "name": "flights",
    "uid": UID,
    "controller": True,
    "blockOwnerDeletion": True,
}
QUEUE = "kueue.x-k8s.io/queue-name"


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_job_owns_everything(backend: str) -> None:
    made = child_spec(backend, backend_keys={"cache_credentials": {"key": "x"}})
    for manifest in (*shared_objects(made), child(made)):
        assert manifest["metadata"]["ownerReferences"] == [OWNER]
        assert manifest["metadata"]["namespace"] == "teams"


@pytest.mark.parametrize("backend", BACKENDS)
def test_everything_is_found_by_the_jobs_uid(backend: str) -> None:
    made = child_spec(backend, attempt=3, podTemplate={"labels": {"trainwright.dev/job-uid": "other", "team": "a"}})
    for manifest in shared_objects(made):
        assert manifest["metadata"]["labels"]["trainwright.dev/job-uid"] == UID
        assert "trainwright.dev/attempt" not in manifest["metadata"]["labels"]
    for found in (child(made), *templates(made).values()):
        labels = found["metadata"]["labels"]
        assert labels["trainwright.dev/job-uid"] == UID
        assert (labels["trainwright.dev/attempt"], labels["trainwright.dev/stage"]) == ("3", "train")
    assert all(template["metadata"]["labels"]["team"] == "a" for template in templates(made).values())


@pytest.mark.parametrize("backend", BACKENDS)
def test_kueue_sees_the_child_alone(backend: str) -> None:
    made = child_spec(backend, queueName="gpus")
    assert child(made)["metadata"]["labels"][QUEUE] == "gpus"
    others = (*shared_objects(made), *templates(made).values())
    assert not any(QUEUE in found["metadata"]["labels"] for found in others)
    assert QUEUE not in child(child_spec(backend))["metadata"]["labels"]
    assert "suspend" not in child(made)["spec"]


def test_the_jobs_labels_and_annotations_are_its_childs_alone() -> None:
    given = {"labels": {"cost": "a", QUEUE: "other", names.ATTEMPT: "9"}, "annotations": {"topology": "rack"}}
    made = child_spec("ray", childMetadata=given, queueName="gpus")
    found = child(made)["metadata"]
    assert (found["labels"]["cost"], found["labels"][QUEUE], found["labels"][names.ATTEMPT]) == ("a", "gpus", "1")
    assert found["annotations"] == {"topology": "rack", names.RECORD: "{}"}
    assert all("cost" not in one["metadata"]["labels"] for one in shared_objects(made))
    assert set(child(child_spec("ray"))["metadata"]["annotations"]) == {names.RECORD}
