"""GPU-seconds before the first step: the GPU pod prepares the data itself, or a preprocess stage runs before it.

The node reports a GPU that it does not have: the pod holds it, and trains on CPUs.
"""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

from ruamel.yaml import YAML
from testkit.api import Manifest
from testkit.full_cluster import jobs, objects

from bench.full_cluster import shapes
from bench.full_cluster.environment import WarmCluster, environment
from bench.full_cluster.timeline import gpu_seconds
from bench.results import Result, result
from bench.scaling import large_data
from bench.tabular import JOB

GPU = "nvidia.com/gpu"
STAGES = ("one stage", "two stages")


async def run(rows: int, rounds: int) -> dict[str, Result]:
    data = large_data(rows)
    spent: dict[str, list[tuple[float, float]]] = {stages: [] for stages in STAGES}
    async with environment() as here:
        with objects.given(here.full_cluster, {GPU: "1"}):
            for number in range(rounds):
                for stages in STAGES if number % 2 == 0 else reversed(STAGES):
                    spent[stages].append(await measure(here, f"{stages.replace(' ', '-')}-{number}", data, stages))
    found: dict[str, Result] = {}
    for stages, runs in spent.items():
        found[f"{rows:,} rows, {stages}: GPU-seconds to the first step"] = result(median(gpu for gpu, _ in runs), "s")
        found[f"{rows:,} rows, {stages}: to the first step"] = result(median(total for _, total in runs), "s")
    return found


async def measure(here: WarmCluster, name: str, data: Path, stages: str) -> tuple[float, float]:
    """Return GPU-seconds, and seconds."""
    made = job(here, name, data, stages)
    began, stepped = await here.first_step(made)
    spent = gpu_seconds(here.eye.pods, here.eye.seen, GPU, stepped)
    await here.clear(made)
    print(f"{name}: {spent:.2f} GPU-seconds, {stepped - began:.2f} s", flush=True)
    return spent, stepped - began


def job(here: WarmCluster, name: str, data: Path, stages: str) -> Manifest:
    """A job without prepared data. With one stage, the training pod fills a cache of its own."""
    made = jobs.weather(name, here.bucket)
    spec: dict[str, Any] = made["spec"]
    spec["dataset"] = here.bucket.upload(data, f"{name}/rows.parquet")
    spec["config"] = YAML(typ="safe").load(JOB)["spec"]["config"]
    if stages == "one stage":
        spec["backend"]["cache_dir"] = "/cache"
        spec["podTemplate"] |= {
            "volumes": [{"name": "cache", "emptyDir": {}}],
            "volumeMounts": [{"name": "cache", "mountPath": "/cache"}],
        }
    spec["podTemplate"]["resources"]["limits"] = {GPU: "1"}
    return shapes.timed(made, here.eye.address)
