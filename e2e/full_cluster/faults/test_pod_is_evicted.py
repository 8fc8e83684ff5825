"""A pod is evicted, as when its node is drained: the progress is in a checkpoint before the pod is gone. The epoch is
long, so no other checkpoint is written meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from testkit.full_cluster import jobs
from testkit.full_cluster.bucket import Bucket
from testkit.full_cluster.full_cluster import FullCluster
from testkit.full_cluster.training import CONFIG, HEAD, LOGS, WORKER, Training
from testkit.full_cluster.volume import Volume

STEP = 300


@pytest.fixture
def long_epoch(operator: FullCluster, namespace: str, bucket: Bucket, volume: Volume, tmp_path: Path) -> Training:
    """The started training, on many copies of the weather data."""
    head, *rows = jobs.WEATHER.read_text().splitlines(keepends=True)
    (tmp_path / "long.csv").write_text("".join([head, *rows * 100]))
    made = Training(operator, namespace, bucket, volume)
    trainer = {**CONFIG["trainer"], "epochs": 1}
    dataset = bucket.upload(tmp_path / "long.csv", "long.csv")
    made.start({"dataset": dataset, "config": {**CONFIG, "trainer": trainer}, "checkpoint": {"everySeconds": 0}})
    return made


def test_a_worker_and_then_the_head_leave_a_checkpoint(long_epoch: Training, volume: Volume, bucket: Bucket) -> None:
    long_epoch.until_step(STEP)
    seen = _steps(volume)[-1]
    _evict(long_epoch, min(long_epoch.pods(WORKER)))
    long_epoch.until(lambda: _went_on_from(_steps(volume)), 400, "another begin")
    (checkpoint,) = _went_on_from(_steps(volume))
    assert seen <= checkpoint < max(_steps(volume))
    assert long_epoch.status()["attempt"] == 1

    long_epoch.until_step(checkpoint + STEP)
    seen = _steps(volume)[-1]
    (head,) = long_epoch.pods(HEAD)
    _evict(long_epoch, head)
    long_epoch.until(lambda: len(long_epoch.attempts()) > 1, 240, "another attempt")
    ended = long_epoch.attempts()[0]
    assert (ended["number"], ended["outcome"]) == (1, "preempted")
    assert ended["message"].startswith("stopped by SIGTERM at epoch 1, row ")
    assert ended["message"].endswith("; checkpoint written")
    folders = [key.split("/")[-2] for key in bucket.keys("runs") if key.endswith("/manifest.json")]
    assert max(int(folder.partition("-")[0]) for folder in folders) >= seen


def _steps(volume: Volume) -> Sequence[int]:
    """Return the updates of rank 0 in their order."""
    return [json.loads(line)["step"] for line in volume.read(LOGS[0]).splitlines()]


def _went_on_from(steps: Sequence[int]) -> Sequence[int]:
    """Return the step of the checkpoint at each restart."""
    return [step - 1 for before, step in pairwise(steps) if step <= before]


def _evict(training: Training, pod: str) -> None:
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": training.namespace}}
    place = f"/api/v1/namespaces/{training.namespace}/pods/{pod}/eviction"
    training.kubectl("create", f"--raw={place}", "-f", "-", stdin=json.dumps(body))
