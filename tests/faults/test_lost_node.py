"""A node of a Ray cluster is lost in mid training. A file with a range of workers goes on with those that have room."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys

import pytest

from .test_gang import losses, small
from .test_own_workers import Run

pytestmark = pytest.mark.slow  # it starts a cluster of two nodes
TOKEN = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}

# Prints its address, and loses its second node when it reads a line.
CLUSTER = """
import os, sys
from trainwright_trainer.backends.ray.environment import settle
settle(os.environ)
from ray.cluster_utils import Cluster
each = {"num_cpus": 1, "object_store_memory": 1 << 27}
cluster = Cluster(initialize_head=True, head_node_args={**each, "include_dashboard": False})
second = cluster.add_node(**each)
cluster.wait_for_nodes()
print(cluster.address, flush=True)
sys.stdin.readline()
cluster.remove_node(second, allow_graceful=False)
sys.stdin.read()
cluster.shutdown()
"""


@pytest.fixture
def cluster():
    environment = {**os.environ, **TOKEN}
    environment.pop("RAY_ADDRESS", None)
    process = subprocess.Popen(
        [sys.executable, "-c", CLUSTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )
    yield process
    process.stdin.close()
    process.stdout.close()
    process.wait(60)


def test_the_other_workers_go_on_with_the_same_curve(place, environment, cluster):
    def on_ray(spec):
        small(spec)
        trainer = {"num_workers": {"min": 1, "max": 2}, "max_retries": 1}
        spec["backend"] |= {"type": "ray", "processor": {"type": "pandas"}, "trainer": trainer}

    address = cluster.stdout.readline().strip()
    run = place(on_ray)
    started = Run(run, {**environment, **TOKEN, "RAY_ADDRESS": address})
    started.until_steps(30)
    cluster.stdin.write("lose it\n")
    cluster.stdin.flush()
    assert started.wait() == 0, started.output.read_text()
    output = started.output.read_text()
    assert "starting 2 workers\n" in output
    assert " · 2 processes, " in output
    assert " · 1 process, " in output
    assert run.outcome(1)["class"] == "done"
    alone = place(small, run="alone")
    alone.finish()
    assert losses(run) == pytest.approx(losses(alone), rel=1e-9, abs=1e-9)
