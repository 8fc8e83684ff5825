"""The processes of a trial: each mistake is one line, for a machine and for the webhook alike."""

from __future__ import annotations

from typing import Any

import pytest

from trainwright_api.checks.cluster import validate_job
from trainwright_api.checks.validate import inspect

CONFIG: dict[str, Any] = {
    "input_features": [{"name": "size", "type": "number"}],
    "output_features": [{"name": "late", "type": "binary"}],
    "trainer": {"batch_size": 8},
}
RATE = {"trainer.learning_rate": {"space": "uniform", "lower": 0.1, "upper": 1}}
GANG = {"num_workers": 2}


def job(backend: Any, scheduler: str = "fifo", **executor: Any) -> dict[str, Any]:
    more = {"hyperparam_mutations": RATE} if scheduler == "pbt" else {}
    search = {"parameters": RATE, "executor": {"num_samples": 2, "scheduler": {"type": scheduler, **more}, **executor}}
    spec = {
        "task": "hyperopt",
        "dataset": "s3://bucket/x.csv",
        "output": "s3://bucket/out",
        "config": {**CONFIG, "hyperopt": search},
        "backend": backend,
    }
    return {
        "apiVersion": "trainwright.dev/v1alpha1",
        "kind": "TrainingJob",
        "metadata": {"name": "job"},
        "spec": spec,
    }


def lines(backend: Any, **more: Any) -> list[str]:
    found = inspect(job(backend, **more), "job.yaml")
    return [str(problem) for problem in (*found.mistakes, *found.unbuilt)]


@pytest.mark.parametrize(
    ("backend", "more"),
    [
        ({"type": "local"}, {"gpu_resources_per_trial": 1}),
        ({"type": "ray"}, {"cpu_resources_per_trial": 4}),
        ({"type": "ray", "trainer": {"num_workers": 1}}, {}),
        ({"type": "ray", "trainer": {**GANG, "resources_per_worker": {"GPU": 1}, "strategy": "fsdp"}}, {}),
        ({"type": "ray", "trainer": GANG}, {"scheduler": "asha"}),
        ({"type": "ray"}, {"scheduler": "hyperband"}),
        ({"type": "ray", "trainer": GANG}, {"scheduler": "pbt"}),
    ],
)
def test_trials_that_run(backend: Any, more: Any) -> None:
    assert lines(backend, **more) == []
    assert validate_job(job(backend, **more)).message == ""


@pytest.mark.parametrize(
    ("backend", "more", "line"),
    [
        (
            {"type": "horovod", "trainer": GANG},
            {},
            "backend.type: horovod starts one gang of pods: a search has backend local or ray",
        ),
        (
            {"type": "ray", "trainer": {"num_workers": {"min": 1, "max": 2}}},
            {},
            "backend.trainer.num_workers: a range: in a search each trial has the same number of workers",
        ),
        (
            {"type": "ray", "trainer": {"resources_per_worker": {"CPU": 2}}},
            {},
            "backend.trainer.resources_per_worker: a trial of one process has config.hyperopt.executor."
            "cpu_resources_per_trial and gpu_resources_per_trial: remove it",
        ),
        (
            {"type": "ray", "trainer": {"use_gpu": True}},
            {},
            "backend.trainer.use_gpu: a trial of one process has config.hyperopt.executor.cpu_resources_per_trial and "
            "gpu_resources_per_trial: remove it",
        ),
        (
            {"type": "ray", "trainer": {"strategy": "deepspeed"}},
            {},
            "backend.trainer.strategy: a trial of one process trains without DeepSpeed: set num_workers to 2 or more, "
            "or remove it",
        ),
        (
            {"type": "local"},
            {"gpu_resources_per_trial": 2},
            "config.hyperopt.executor.gpu_resources_per_trial: a trial of one process uses one GPU, found 2: for more, "
            "set backend ray and backend.trainer.num_workers",
        ),
        (
            {"type": "ray", "trainer": GANG},
            {"cpu_resources_per_trial": 2},
            "config.hyperopt.executor.cpu_resources_per_trial: a trial of 2 workers has backend.trainer."
            "resources_per_worker: remove it",
        ),
        (
            {"type": "ray", "trainer": GANG},
            {"scheduler": "hyperband"},
            "config.hyperopt.executor.scheduler.type: hyperband pauses trials: a trial of 2 workers has asha, "
            "median_stopping_rule, pbt or fifo",
        ),
    ],
)
def test_a_trial_that_cannot_run_is_one_line(backend: Any, more: Any, line: str) -> None:
    assert lines(backend, **more) == [line]
    assert validate_job(job(backend, **more)).message == f"job: {line}"
