"""The requests that sizes are computed from are those of the pods that are created."""

from __future__ import annotations

from typing import Any

import pytest

from trainwright_operator.policies.in_use import requests_of_pod
from trainwright_operator.policies.pod_requests import of_pods_beside, of_worker_pod

from ..children.child_specs import child_spec, sized, templates

MEMORY = {"requests": {"memory": "8Gi", "cpu": "3"}, "limits": {"ephemeral-storage": "1Gi"}}


@pytest.mark.parametrize(
    ("trainer", "spec", "together", "gpus"),
    [
        ({}, {}, 1, 0),
        ({"resources_per_worker": {"CPU": 0.3}}, {}, 3, 0),
        ({"resources_per_worker": {"CPU": 2, "GPU": 0.5}}, {}, 3, 2),
        ({"resources_per_worker": {"GPU": 1}}, {"gpuResourceName": "amd.com/gpu"}, 1, 1),
        ({}, {"podTemplate": {"resources": MEMORY, "head": {"resources": MEMORY}}}, 1, 0),
        ({}, {"podTemplate": {"worker": {"resources": {"limits": {"cpu": "500m"}}}}}, 1, 0),
    ],
)
def test_they_are_those_of_the_pods(trainer: dict[str, Any], spec: dict[str, Any], together: int, gpus: int) -> None:
    resolved = sized(together, together, gpus)
    made = child_spec("ray", resolved=resolved, backend_keys={"trainer": {"num_workers": together, **trainer}}, **spec)
    pods = {role: requests_of_pod(template["spec"]) for role, template in templates(made).items()}
    share = trainer.get("resources_per_worker", {}).get("GPU", 0.0)
    assert dict(of_worker_pod(made.spec, share, together, made.settings)) == dict(pods["worker"])
    beside = of_pods_beside(made.spec, made.settings)
    for name in {*beside, *pods["head"], *pods["submitter"]}:
        assert beside[name] == pods["head"].get(name, 0) + pods["submitter"].get(name, 0)
