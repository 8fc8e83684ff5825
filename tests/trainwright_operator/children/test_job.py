from __future__ import annotations

import pytest

from trainwright_operator.children import child

from .child_specs import child_spec, container, sized, templates

JOBS = ("local", "deepspeed", "horovod")


@pytest.mark.parametrize("backend", JOBS)
def test_nobody_but_the_operator_retries_suspends_or_cleans_up(backend: str) -> None:
    spec = child(child_spec(backend, queueName="gpus"))["spec"]
    assert spec["backoffLimit"] == 0
    assert not {"suspend", "ttlSecondsAfterFinished", "activeDeadlineSeconds"} & set(spec)
    # With either field, a terminating pod would fail the Job only after it is gone.
    assert not {"podFailurePolicy", "podReplacementPolicy"} & set(spec)


@pytest.mark.parametrize("backend", JOBS)
def test_it_runs_the_one_command(backend: str) -> None:
    assert container(templates(child_spec(backend))["trainer"])["command"] == [
        "trainwright",
        "run",
        "/etc/trainwright/job.yaml",
    ]


def test_local_is_one_pod() -> None:
    assert set(child(child_spec("local"))["spec"]) == {"backoffLimit", "template"}


@pytest.mark.parametrize("backend", ["deepspeed", "horovod"])
@pytest.mark.parametrize(("workers", "per_pod", "pods"), [(1, 1, 1), (4, 1, 4), (4, 2, 2), (5, 2, 3)])
def test_a_gang_starts_all_its_pods_at_once(backend: str, workers: int, per_pod: int, pods: int) -> None:
    spec = child(child_spec(backend, resolved=sized(workers, per_pod)))["spec"]
    assert spec["completionMode"] == "Indexed"
    assert spec["completions"] == spec["parallelism"] == pods
