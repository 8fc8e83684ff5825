"""A cluster with Ray's own autoscaler, which starts nodes in this machine. At first it has a head without CPUs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.ray_head import free_port, ray_head

PROGRAM = [sys.executable, "-m", "trainwright_trainer"]
SECONDS = 480
"""The timeout of a run. It is long because each node is a start of Ray, and a shared machine may be slow."""
MOST_NODES = 2


def autoscaling(port: int) -> dict[str, Any]:
    """The configuration of an autoscaler whose provider starts nodes of one CPU."""
    node = {"resources": {"CPU": 1, "object_store_memory": 1 << 27}, "node_config": {}, "min_workers": 0}
    head = {"resources": {"CPU": 0}, "node_config": {}, "max_workers": 0}
    commands = ("initialization", "setup", "head_setup", "worker_setup", "head_start_ray", "worker_start_ray")
    return {
        "cluster_name": "grows",
        "max_workers": MOST_NODES,
        "upscaling_speed": 1.0,
        "idle_timeout_minutes": 5.0,
        "provider": {
            "type": "fake_multinode",
            "gcs_address": f"127.0.0.1:{port}",
            "disable_node_updaters": True,
            "disable_launch_config_check": True,
            "foreground_node_launch": True,
        },
        "available_node_types": {"head": head, "node": {**node, "max_workers": MOST_NODES}},
        "head_node_type": "head",
        **{name: {} for name in ("auth", "docker", "file_mounts")},
        **{name: [] for name in ("cluster_synced_files", "rsync_exclude", "rsync_filter")},
        **{f"{name}_commands": [] for name in commands},
        "file_mounts_sync_continuously": False,
    }


@pytest.fixture
def growing(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of a shell on the head of a cluster that has no node for work yet."""
    port, path = free_port(), tmp_path / "autoscaling.json"
    path.write_text(json.dumps(autoscaling(port)))
    options = ["--num-cpus=0", f"--autoscaling-config={path}"]
    with ray_head(port, *options, AUTOSCALER_UPDATE_INTERVAL_S="1", RAY_FAKE_CLUSTER="1") as environment:
        yield environment


@pytest.mark.slow
def test_the_workers_of_the_file_are_asked_for_and_waited_for(workplace, growing: dict[str, str]) -> None:
    trainer = {"num_workers": MOST_NODES, "resources_per_worker": {"CPU": 1}}
    job = workplace.job(lambda job: job.update(backend={"type": "ray", "trainer": trainer}))
    command = [*PROGRAM, "train", job, "--output", "out"]
    ended = subprocess.run(
        command, cwd=workplace.folder, env=growing, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert "the Ray cluster has nodes for 0 of 2 workers (1 CPU each): waiting until it has grown" in ended.stdout
    rounds = json.loads((workplace.folder / "out/metrics.json").read_text())["rounds"]
    assert [one["rank"] for one in rounds[-1]["ranks"]] == [0, 1]
