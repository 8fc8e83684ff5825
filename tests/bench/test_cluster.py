"""The benchmarks of the operator run, each on a control plane of its own. What they measure here says nothing."""

from __future__ import annotations

import asyncio

import pytest
from bench.cluster import refusal, restart, starting

pytestmark = pytest.mark.slow


def test_the_baseline_and_the_operator_start_the_same_jobs() -> None:
    found = asyncio.run(starting.until_started(count=3, rounds=1))
    assert found["3 jobs → RayJobs"]["value"] > 0
    assert found["requests a job: create rayjobs"]["value"] == 1
    assert found["requests a job"]["holds"]


def test_jobs_run_to_their_end() -> None:
    assert asyncio.run(starting.until_done(count=3))["3 jobs → done"]["value"] > 0


def test_a_restart_among_finished_jobs_writes_nothing() -> None:
    found = asyncio.run(restart.run(count=3, idle=1.0))
    assert found["3 finished jobs: writes"]["holds"]
    assert found["3 finished jobs: peak memory"]["value"] > 0


def test_mistakes_are_refused_by_whom_they_are_for() -> None:
    found = asyncio.run(refusal.run(times=1))
    assert {name.partition(" refused")[0] for name in found} == {"request", "kubectl apply"}
