"""Ray's dashboard shows each worker of a run, where the job asks for it."""

from __future__ import annotations

import json
from typing import Any

from testkit.full_cluster import jobs, objects
from testkit.full_cluster.bucket import Bucket
from testkit.full_cluster.full_cluster import FullCluster

NAME = "dashboard"
ASKED = {"name": "RAY_TRAIN_METRICS_ENABLED", "value": "1"}
READ = """
import os, urllib.request as web
token = os.environ.get("RAY_AUTH_TOKEN", "")
page = web.Request("http://127.0.0.1:8265/api/train/v2/runs/v1", headers={"Authorization": f"Bearer {token}"})
try:
    print(web.urlopen(page, timeout=10).read().decode())
except OSError:  # neither the page nor a run has begun
    print('{"train_runs": []}')
"""


def test_it_shows_each_worker(operator: FullCluster, namespace: str, bucket: Bucket) -> None:
    job = jobs.on_ray(NAME, bucket)
    job["spec"]["config"] = {**jobs.CONFIG, "trainer": jobs.ENDLESS}
    job["spec"]["podTemplate"]["env"].append(ASKED)
    jobs.apply(operator.kubectl, namespace, jobs.keys(operator), job)
    head = objects.until(
        lambda: objects.several(operator.kubectl, namespace, "pods", "ray.io/node-type=head"),
        lambda pods: len(pods) == 1 and pods[0]["status"]["phase"] == "Running",
        seconds=300,
        what="the head",
    )[0]["metadata"]["name"]

    def shown() -> list[tuple[int, str]]:
        """The rank and the state of each worker of the run's last attempt."""
        found = operator.kubectl("exec", f"-n={namespace}", head, "-c=ray", "--", "python", "-c", READ)
        runs: list[dict[str, Any]] = json.loads(found)["train_runs"]
        attempts = runs[0]["attempts"] if runs else []
        workers = attempts[-1]["workers"] if attempts else []
        return sorted((worker["world_rank"], worker["status"]) for worker in workers)

    expected = [(0, "ALIVE"), (1, "ALIVE")]
    objects.until(shown, lambda workers: workers == expected, seconds=300, what="two workers on the page")
