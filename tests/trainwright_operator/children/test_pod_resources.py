from __future__ import annotations

from typing import Any

import pytest

from trainwright_api.resource.quantity import amount
from trainwright_operator.children import pod_resources

from .child_specs import child_spec, container, env, sized, templates


@pytest.mark.parametrize(
    ("shares", "workers", "per_pod", "gpus", "resource", "expected"),
    [
        (None, 4, 1, 0, "nvidia.com/gpu", {"requests": {"cpu": "1"}}),
        (None, 4, 2, 4, "nvidia.com/gpu", {"requests": {"cpu": "2"}, "limits": {"nvidia.com/gpu": "2"}}),
        ({"CPU": 0.25}, 4, 3, 0, "nvidia.com/gpu", {"requests": {"cpu": "750m"}}),
        (
            {"CPU": 2, "GPU": 1},
            2,
            1,
            2,
            "nvidia.com/mig-1g.5gb",
            {"requests": {"cpu": "2"}, "limits": {"nvidia.com/mig-1g.5gb": "1"}},
        ),
        ({"CPU": 1, "GPU": 0.5}, 4, 1, 2, "amd.com/gpu", {"requests": {"cpu": "1"}, "limits": {"amd.com/gpu": "1"}}),
        ({"CPU": 0}, 1, 1, 0, "nvidia.com/gpu", {}),
        ({"memory": 1000, "ssd": 1}, 2, 2, 0, "nvidia.com/gpu", {"requests": {"cpu": "2"}}),
    ],
)
def test_a_pod_reserves_its_workers_shares(
    shares: dict[str, float] | None, workers: int, per_pod: int, gpus: int, resource: str, expected: dict[str, Any]
) -> None:
    trainer = {"resources_per_worker": shares} if shares else None
    made = child_spec(
        "ray", backend_keys={"trainer": trainer or {}}, resolved=sized(workers, per_pod, gpus), gpuResourceName=resource
    )
    assert pod_resources.of_workers(made) == expected


@pytest.mark.parametrize(
    ("resources", "per_pod", "cpus"),
    [
        ({"requests": {"cpu": "4"}}, 1, 4),
        ({"requests": {"cpu": "4"}, "limits": {"cpu": "6"}}, 2, 3),
        ({"requests": {"cpu": "500m"}}, 1, 1),
        ({"limits": {"cpu": 2.5}}, 1, 3),
        ({}, 1, 1),
    ],
)
def test_a_process_gets_its_share_of_the_cpus(resources: dict[str, Any], per_pod: int, cpus: int) -> None:
    assert pod_resources.cpus(child_spec("deepspeed", resolved=sized(4, per_pod)), resources) == cpus


def test_jobs_show_their_processes_and_ray_shows_its_own_and_nobody_is_informed_how_many_threads() -> None:
    given = {"resources": {"limits": {"cpu": "8"}}}
    assert env(templates(child_spec("local", podTemplate=given))["trainer"])["TRAINWRIGHT_CPUS"] == "8"
    assert "TRAINWRIGHT_CPUS" not in env(templates(child_spec("ray"))["worker"])


def test_head_and_submitter_fit_beside_two_workers_on_a_small_node() -> None:
    made = templates(
        child_spec("ray", backend_keys={"trainer": {"resources_per_worker": {"CPU": 0.5}}}, resolved=sized(2))
    )
    beside = [container(made[role])["resources"]["requests"]["cpu"] for role in ("head", "submitter")]
    workers = 2 * amount(container(made["worker"])["resources"]["requests"]["cpu"])
    assert sum(map(amount, beside)) + workers <= 1.5
