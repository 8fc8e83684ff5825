"""Random valid TrainingJobs."""

from __future__ import annotations

import copy
import random
from typing import Any

from testkit.contract.values import Maker
from trainwright_api.resource.job import API_VERSION, KIND, TrainingJobSpec
from trainwright_api.resource.stages import TASKS_OF_A_MODEL

CONFIG: dict[str, Any] = {
    "input_features": [{"name": "a", "type": "number"}],
    "output_features": [{"name": "b", "type": "binary"}],
}
RICH_CONFIG: dict[str, Any] = {
    "input_features": [
        {"name": "city", "type": "category", "column": "town", "encoder": {"type": "dense", "embedding_size": 8}},
        {"name": "size", "type": "number", "preprocessing": {"normalization": "zscore"}, "active": True, "tied": None},
    ],
    "output_features": [{"name": "late", "type": "binary", "loss": {"weight": 2.0}, "dependencies": []}],
    "combiner": {"type": "concat", "num_fc_layers": 2},
    "trainer": {"epochs": 3, "learning_rate": 1e-4, "batch_size": "auto", "optimizer": {"type": "adamw"}},
    "preprocessing": {"split": {"type": "random", "probabilities": [0.8, 0.1, 0.1]}, "sample_ratio": 0.5},
    "defaults": {"number": {"preprocessing": {"fill_value": 0}}},
    "hyperopt": None,
}
RICH_BACKEND: dict[str, Any] = {
    "type": "ray",
    "cache_dir": "s3://bucket/cache",
    "credentials": {"cache": {"s3": {"key": "x"}}},
    "processor": {"type": "dask", "parallelism": 100},
    "trainer": {"strategy": "ddp", "use_gpu": True, "num_workers": 4, "resources_per_worker": {"CPU": 2, "GPU": 1}},
    "loader": {"fully_executed": False, "window_size_bytes": 500000000},
}
BACKENDS: tuple[dict[str, Any], ...] = ({"type": "local"}, {"type": "ray", "trainer": {"num_workers": 2}}, {})
OF_CONFIGS = ("train", "experiment", "preprocess")
TOGETHER = frozenset({"task", "config", "model", "entrypoint", "dataset", "backend"})
"""The valid values of these fields depend on each other."""


def plain(**spec: Any) -> dict[str, Any]:
    """A small valid job."""
    whole = {"dataset": "s3://bucket/data.parquet", "config": CONFIG, **copy.deepcopy(spec)}
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": "job"}, "spec": whole}


def job(rng: random.Random) -> dict[str, Any]:
    spec = Maker(rng, rng.choice([0.1, 0.5, 0.9])).section(TrainingJobSpec, leave_out=TOGETHER)
    if rng.random() < 0.7:
        spec["backend"] = rng.choice(BACKENDS)
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata(rng), "spec": {**what(rng), **spec}}


def metadata(rng: random.Random) -> dict[str, Any]:
    made: dict[str, Any] = rng.choice([{"name": "job"}, {"generateName": "job-"}, {"name": "a.b-c.9"}])
    more: dict[str, Any] = {
        "labels": {"team": "ml", "example.com/Cost_center": "A.b-9", "empty": ""},
        "annotations": {"example.com/note": "Füße\n" * 3, "plain": ""},
        "finalizers": ["example.com/wait"],
    }
    return {**made, **{key: value for key, value in more.items() if rng.random() < 0.3}}


def what(rng: random.Random) -> dict[str, Any]:
    """Exactly one of config, model and entrypoint, with a task that fits it."""
    about = rng.choice(["config", "model", "entrypoint"])
    tasks = TASKS_OF_A_MODEL if about == "model" else OF_CONFIGS
    made: dict[str, Any] = {} if "train" in tasks and rng.random() < 0.5 else {"task": rng.choice(tasks)}
    if about != "entrypoint" or rng.random() < 0.5:
        made["dataset"] = "s3://bucket/data.parquet"
    if about == "entrypoint":
        return {
            **made,
            "entrypoint": {"module": "my.train", "function": "main", "config": {"a": Maker(rng).anything()}},
        }
    return {**made, about: CONFIG if about == "config" else "s3://bucket/model"}
