"""The number of workers and of GPUs."""

from __future__ import annotations

from typing import Any

import pytest

from trainwright_api.resource.job import TrainingJobSpec
from trainwright_operator.job_defaults import JobDefaults
from trainwright_operator.model.observed import Node, Snapshot, Taint
from trainwright_operator.model.plan import Lookup
from trainwright_operator.policies.sizing import resolve
from trainwright_operator.policy import Policy
from trainwright_operator.settings import Settings

from ..simulation import SPEC

SETTINGS = Settings(max_workers=6)
EIGHT = Node("eight", True, False, {"gpu": "h200"}, (), {"nvidia.com/gpu": 8.0, "cpu": 64.0})
FOUR = Node("four", True, False, {}, (), {"nvidia.com/gpu": 4.0})
PLAIN = Node("plain", True, False, {}, (), {"cpu": 8.0})
TAINTED = Node("tainted", True, False, {}, (Taint("nvidia.com/gpu", "NoSchedule"),), {"nvidia.com/gpu": 4.0})
RESERVED = Node("reserved", True, False, {}, (Taint("dedicated", "NoSchedule", "ml"),), {"nvidia.com/gpu": 4.0})


def sized(
    trainer: dict[str, Any] | None, *nodes: Node, in_use: Any = None, settings: Settings = SETTINGS, **spec: Any
) -> Any:
    backend = {"type": "ray", "trainer": trainer or {}}
    parsed = TrainingJobSpec.model_validate({**SPEC, "backend": backend, **spec})
    used = {node: {"nvidia.com/gpu": gpus} for node, gpus in (in_use or {}).items()}
    found = resolve(parsed, "digest", Snapshot(nodes=nodes or None, in_use=used), settings)
    assert not isinstance(found, Lookup)
    return found.workers, found.gpus, found.workers_per_pod


def test_what_the_job_says_is_taken_as_it_is() -> None:
    assert sized({"num_workers": 4, "resources_per_worker": {"CPU": 2, "GPU": 1}}) == (4, 4, 1)
    assert sized({"num_workers": 3, "use_gpu": False}, EIGHT) == (3, 0, 1)
    assert sized({"num_workers": 3, "resources_per_worker": {"GPU": 0.5}}, EIGHT) == (3, 3, 1)


def test_a_local_job_is_one_process() -> None:
    found = resolve(TrainingJobSpec.model_validate(SPEC), "digest", Snapshot(), SETTINGS)
    assert not isinstance(found, Lookup)
    assert (found.workers, found.gpus, found.strategy) == (1, 0, "single")


@pytest.mark.parametrize(("spec", "images"), [({}, ("a:1", "b:1")), ({"image": "mine:1"}, ("mine:1", None))])
def test_a_job_without_an_image_has_those_of_the_chart(spec: dict[str, Any], images: tuple[str, str | None]) -> None:
    parsed = TrainingJobSpec.model_validate({**SPEC, **spec})
    found = resolve(parsed, "digest", Snapshot(), Settings(image="a:1", cpu_image="b:1"))
    assert not isinstance(found, Lookup)
    assert (found.image, found.cpu_image) == images


@pytest.mark.parametrize("task", ["predict", "evaluate"])
def test_a_task_of_a_model_holds_what_its_workers_use(task: str) -> None:
    def of_a_model(trainer: dict[str, Any] | None, *nodes: Node) -> Any:
        return sized(trainer, *nodes, task=task, model="s3://runs/a/model", config=None)

    assert of_a_model({"num_workers": 4, "use_gpu": True}, EIGHT) == (4, 4, 1)
    assert of_a_model({"num_workers": 4, "use_gpu": False}, EIGHT) == (4, 0, 1)
    assert of_a_model({"num_workers": {"min": 2, "max": 3}}, FOUR) == (3, 3, 1)
    assert of_a_model(None, PLAIN) == (1, 0, 1)


def test_a_task_of_a_model_on_a_backend_without_ray_is_one_process_without_a_gpu() -> None:
    backend = {"type": "horovod", "trainer": {"num_workers": 4, "use_gpu": True}}
    assert sized(None, EIGHT, backend=backend, task="predict", model="s3://runs/a/model", config=None) == (1, 0, 1)


def test_one_worker_for_each_free_gpu_up_to_the_cap() -> None:
    assert sized(None, FOUR, PLAIN) == (4, 4, 1)
    assert sized(None, FOUR, in_use={"four": 3.0}) == (1, 1, 1)
    assert sized(None, EIGHT, FOUR) == (6, 6, 1)
    assert sized({"resources_per_worker": {"GPU": 2}}, FOUR) == (2, 4, 1)


@pytest.mark.parametrize(
    ("trainer", "policy", "expected"),
    [
        (None, Policy(max_workers_per_job=3), (3, 3, 1)),
        (None, Policy(max_gpus_per_namespace=2), (2, 2, 1)),
        ({"resources_per_worker": {"GPU": 2}}, Policy(max_gpus_per_job=5), (2, 4, 1)),
        ({"num_workers": {"min": 2, "max": 8}}, Policy(max_workers_per_job=5, max_gpus_per_job=4), (4, 4, 1)),
        ({"num_workers": {"min": 2, "max": 8}}, Policy(max_workers_per_job=1), (2, 2, 1)),
        ({"num_workers": 5}, Policy(max_workers_per_job=1), (5, 5, 1)),
    ],
)
def test_the_policy_bounds_a_number_that_is_left_open_and_refuses_the_others(
    trainer: dict[str, Any] | None, policy: Policy, expected: tuple[int, int, int]
) -> None:
    assert sized(trainer, EIGHT, settings=Settings(policy=policy)) == expected


def searched(trainer: dict[str, Any] | None, *nodes: Node, settings: Settings = SETTINGS, **executor: Any) -> Any:
    rate = {"trainer.learning_rate": {"space": "uniform", "lower": 0.1, "upper": 1}}
    search = {"parameters": rate, "executor": {"num_samples": 8, **executor}}
    config = {**SPEC["config"], "hyperopt": search}
    return sized(trainer, *nodes, settings=settings, task="hyperopt", config=config)


def test_a_search_has_the_workers_of_its_concurrent_trials() -> None:
    assert searched(None, PLAIN, max_concurrent_trials=3) == (3, 0, 1)
    assert searched({"num_workers": 2}, PLAIN, max_concurrent_trials=3) == (6, 0, 1)
    assert searched(None, EIGHT, max_concurrent_trials=3, gpu_resources_per_trial=1) == (3, 3, 1)
    assert searched({"num_workers": 2}, EIGHT, max_concurrent_trials=2) == (4, 4, 1)


def test_a_search_that_leaves_their_number_open_takes_the_free_gpus_and_else_runs_one_trial_at_a_time() -> None:
    assert searched(None, EIGHT) == (1, 0, 1)
    assert searched(None, EIGHT, gpu_resources_per_trial=1) == (6, 6, 1)
    assert searched(None, EIGHT, gpu_resources_per_trial=1, num_samples=2) == (2, 2, 1)
    assert searched({"num_workers": 4}, EIGHT) == (4, 4, 1)  # 6 are the cap, and half a trial is of no use
    assert searched({"num_workers": 4}, PLAIN) == (4, 0, 1)


def test_one_worker_where_no_gpu_is_free_or_none_is_there() -> None:
    assert sized(None, FOUR, in_use={"four": 4.0}) == (1, 1, 1)
    assert sized(None, PLAIN) == (1, 0, 1)


def test_pods_with_gpus_tolerate_the_taint_of_their_name() -> None:
    assert sized(None, TAINTED) == (4, 4, 1)
    assert sized({"num_workers": {"min": 2, "max": 3}}, TAINTED) == (3, 3, 1)
    assert sized({"num_workers": {"min": 2, "max": 3}, "use_gpu": False}, TAINTED) == (2, 0, 1)


def test_nodes_that_the_pods_may_not_use_do_not_count() -> None:
    assert sized(None, RESERVED) == (1, 0, 1)
    tolerated = {"tolerations": [{"key": "dedicated", "operator": "Exists"}]}
    assert sized(None, RESERVED, podTemplate=tolerated) == (4, 4, 1)
    assert sized(None, EIGHT, FOUR, podTemplate={"nodeSelector": {"gpu": "l4"}}) == (1, 0, 1)
    assert sized(None, EIGHT, FOUR, podTemplate={"worker": {"nodeSelector": {"gpu": "h200"}}}) == (6, 6, 1)
    assert sized(None, FOUR, podTemplate={"head": {"nodeSelector": {"gpu": "h200"}}}) == (4, 4, 1)
    defaults = JobDefaults(pod_template={"nodeSelector": {"gpu": "h200"}})
    assert sized(None, FOUR, settings=Settings(jobs=defaults)) == (1, 0, 1)


def test_a_range_takes_what_is_free_within_it() -> None:
    assert sized({"num_workers": {"min": 2, "max": 3}}, FOUR) == (3, 3, 1)
    assert sized({"num_workers": {"min": 2, "max": 3}}, FOUR, in_use={"four": 4.0}) == (2, 2, 1)


def test_where_nodes_cannot_be_seen_only_the_job_speaks() -> None:
    assert sized(None) == (1, 0, 1)
    assert sized({"resources_per_worker": {"GPU": 1}}) == (1, 1, 1)


def test_gpus_in_use_are_asked_for_only_where_they_matter() -> None:
    spec = TrainingJobSpec.model_validate({**SPEC, "backend": {"type": "ray"}})
    assert resolve(spec, "digest", Snapshot(nodes=(FOUR,)), SETTINGS) == Lookup("in_use")
    assert not isinstance(resolve(spec, "digest", Snapshot(nodes=(PLAIN,)), SETTINGS), Lookup)


@pytest.mark.parametrize(
    ("workers", "asked", "together"), [(8, "auto", 4), (6, "auto", 3), (5, "auto", 1), (8, 2, 2), (2, 8, 2)]
)
def test_workers_share_pods(workers: int, asked: Any, together: int) -> None:
    trainer = {"num_workers": workers, "resources_per_worker": {"GPU": 1}}
    assert sized(trainer, FOUR, workersPerPod=asked) == (workers, workers, together)


TWO = Node("two", True, False, {}, (), {"nvidia.com/gpu": 2.0})


@pytest.mark.parametrize(
    ("workers", "share", "together"),
    [(6, 1, 2), (12, 0.5, 4), (4, 1, 4), (3, 2, 1), (18, 1, 3)],
    ids=["four and two", "half a GPU each", "the larger node alone", "two GPUs each", "more than there are"],
)
def test_auto_leaves_a_place_for_every_pod_where_nodes_differ(workers: int, share: float, together: int) -> None:
    trainer = {"num_workers": workers, "resources_per_worker": {"GPU": share}}
    assert sized(trainer, FOUR, TWO, workersPerPod="auto")[2] == together


def test_auto_takes_the_free_gpus_where_the_workers_are_left_to_the_cluster() -> None:
    assert sized(None, FOUR, TWO, workersPerPod="auto") == (6, 6, 2)
    assert sized(None, FOUR, TWO, workersPerPod="auto", in_use={"four": 1.0}) == (5, 5, 1)
    assert sized(None, EIGHT, workersPerPod="auto", in_use={"eight": 4.0}) == (4, 4, 4)


def test_auto_is_one_where_no_gpu_is_seen() -> None:
    assert sized({"num_workers": 4}, PLAIN, workersPerPod="auto") == (4, 0, 1)
    assert sized({"num_workers": 4, "resources_per_worker": {"GPU": 1}}, workersPerPod="auto") == (4, 4, 1)


def test_workers_with_half_a_gpu_each_claim_a_whole_one_where_they_are_alone_in_a_pod() -> None:
    half = {"resources_per_worker": {"GPU": 0.5}}
    assert sized(half, FOUR) == (4, 4, 1)
    assert sized(half, FOUR, workersPerPod=2) == (6, 3, 2)
    assert sized(half, FOUR, workersPerPod="auto") == (6, 3, 6)
    three = Settings(max_workers=6, policy=Policy(max_gpus_per_job=3))
    assert sized(half, FOUR, settings=three) == (3, 3, 1)
    assert sized(half, FOUR, settings=three, workersPerPod=2) == (6, 3, 2)


def test_the_last_pod_reserves_as_many_gpus_as_the_others() -> None:
    assert sized({"num_workers": 6, "resources_per_worker": {"GPU": 1}}, EIGHT, workersPerPod=4) == (6, 8, 4)


def test_mig_slices_are_gpus_under_another_name() -> None:
    sliced = Node("sliced", True, False, {}, (), {"nvidia.com/mig-1g.10gb": 3.0})
    assert sized(None, sliced, gpuResourceName="nvidia.com/mig-1g.10gb") == (3, 3, 1)
