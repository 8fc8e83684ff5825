from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainwright_api.resource.status import Resolved
from trainwright_operator.model.names import CHILD_LIMIT
from trainwright_operator.policies.gpus import reserved

from .child_specs import UID, child_spec, job, sized

NAMES = st.text("abz059-.", min_size=1, max_size=253).map(lambda text: text.strip("-.") or "x")
DNS_1035 = re.compile("[a-z]([-a-z0-9]*[a-z0-9])?")


@settings(deadline=None)
@given(NAMES, st.uuids().map(str), st.integers(1, 20_000), st.sampled_from(["train", "experiment", "preprocess"]))
def test_every_name_fits_kuberay_and_a_service(name: str, uid: str, attempt: int, stage: str) -> None:
    made = child_spec(owner=job(name, uid), attempt=attempt, stage=stage)
    for found in (made.name, made.common_name):
        assert len(found) <= CHILD_LIMIT
        assert DNS_1035.fullmatch(found)


def test_attempts_and_stages_have_names_of_their_own_and_share_one() -> None:
    made = [child_spec(attempt=attempt, stage=stage) for attempt in (1, 2) for stage in ("preprocess", "train")]
    assert [found.name for found in made] == [
        "flights-1c9e2f7a-1-preprocess",
        "flights-1c9e2f7a-1-train",
        "flights-1c9e2f7a-2-preprocess",
        "flights-1c9e2f7a-2-train",
    ]
    assert {found.common_name for found in made} == {"flights-1c9e2f7a"}


@pytest.mark.parametrize(
    ("given_shares", "gpus", "shares"),
    [
        (None, 0, {"CPU": 1}),
        (None, 4, {"CPU": 1, "GPU": 1}),
        ({"CPU": 2}, 4, {"CPU": 2, "GPU": 1}),
        ({"GPU": 0.5}, 2, {"CPU": 1, "GPU": 0.5}),
        ({"CPU": 0, "GPU": 1}, 2, {"GPU": 1}),
        ({"CPU": 3, "ssd": 1}, 0, {"CPU": 3, "ssd": 1}),
    ],
)
def test_a_worker_gets_what_the_file_says_and_defaults(
    given_shares: dict[str, float] | None, gpus: int, shares: dict[str, float]
) -> None:
    trainer = {"resources_per_worker": given_shares} if given_shares else None
    assert (
        child_spec("ray", backend_keys={"trainer": trainer or {}}, resolved=sized(4, gpus=gpus)).resources_per_worker
        == shares
    )


@pytest.mark.parametrize(
    ("workers", "per_pod", "shares", "pods", "cpus", "gpus"),
    [
        (1, 1, {"CPU": 1, "GPU": 1}, 1, 1, 1),
        (4, 1, {"CPU": 2, "GPU": 1}, 4, 2, 1),
        (4, 4, {"CPU": 2, "GPU": 1}, 1, 8, 4),
        (5, 2, {"CPU": 1, "GPU": 2}, 3, 2, 4),
        (2, 8, {"CPU": 1, "GPU": 1}, 1, 2, 2),
        (4, 2, {"CPU": 0.5, "GPU": 0.5}, 2, 1, 1),
        (4, 3, {"CPU": 0.1, "GPU": 0.5}, 2, 0.3, 2),
        (10, 10, {"CPU": 1.1, "GPU": 1.1}, 1, 11, 11),
    ],
)
def test_pods_hold_whole_gpus_for_all_their_workers(
    workers: int, per_pod: int, shares: dict[str, float], pods: int, cpus: float, gpus: int
) -> None:
    made = child_spec(
        "ray",
        backend_keys={"trainer": {"resources_per_worker": shares}},
        resolved=sized(workers, per_pod, gpus=workers),
    )
    assert (made.pods, made.cpus_per_pod, made.gpus_per_pod) == (pods, cpus, gpus)
    assert reserved(workers, min(per_pod, workers), shares["GPU"]) == pods * gpus


def test_a_status_without_numbers_is_one_worker_without_a_gpu() -> None:
    made = child_spec("ray", resolved=Resolved())
    assert (made.workers, made.workers_per_pod, made.pods, made.gpus_per_pod) == (1, 1, 1, 0)
    assert made.image_for({}) == made.image_for({"limits": {"nvidia.com/gpu": "1"}}) == "trainwright:0.1.0"


@pytest.mark.parametrize(
    ("resources", "image"),
    [
        ({}, "cpu:1"),
        ({"requests": {"cpu": "2", "hugepages-2Mi": "4Mi"}, "limits": {"memory": "4Gi"}}, "cpu:1"),
        ({"limits": {"nvidia.com/gpu": "1"}}, "gpu:1"),
        ({"requests": {"rdma/hca": "1"}}, "gpu:1"),
        ({"claims": [{"name": "gpu"}]}, "gpu:1"),
    ],
)
def test_a_container_without_devices_has_the_cpu_image(resources: dict[str, Any], image: str) -> None:
    made = child_spec("ray", resolved=Resolved(image="gpu:1", cpu_image="cpu:1"))
    assert made.image_for(resources) == image


def test_the_run_folder_is_the_recorded_one_else_a_new_one() -> None:
    assert child_spec().run_folder == f"s3://runs/teams/flights-{UID[:8]}"
    assert child_spec(owner=job(output="s3://elsewhere/run")).run_folder == "s3://elsewhere/run"
    assert child_spec(output=None).run_folder is None
