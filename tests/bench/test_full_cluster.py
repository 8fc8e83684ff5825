"""The table and timeline of the benchmark on the full cluster, and its event reporter. No test needs a cluster."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from bench.full_cluster import event_reporter, shapes, timeline
from bench.full_cluster.first_step import compared
from bench.full_cluster.timeline import Stage, tables
from bench.results import result

STAGES = (Stage("two ready", "ready", 2), Stage("read", "read"), Stage("stepped", "stepped"))
MODULE = """
class Reader:
    def read(self):
        return 7
"""
PROGRAM = "import looked_at; assert [looked_at.Reader().read() for _ in range(2)] == [7, 7]"


def test_a_stage_is_reached_when_the_word_is_true_of_so_many() -> None:
    seen = {("ready", "a"): 4.0, ("ready", "b"): 2.0, ("ready", "c"): 9.0}
    assert timeline.reached(seen, Stage("", "ready", 2)) == 4.0
    assert timeline.reached(seen, Stage("", "ready", 4)) is None


def test_stages_make_up_the_whole_also_where_one_was_seen_late() -> None:
    seen = {("ready", "a"): 11.0, ("ready", "b"): 13.0, ("read", "a"): 12.5, ("stepped", "a"): 16.0}
    assert timeline.lasted(seen, STAGES, began=10.0) == {"two ready": 3.0, "read": 0.0, "stepped": 3.0}


def test_a_stage_that_was_never_reached_is_named() -> None:
    with pytest.raises(ValueError, match="'two ready' was never reached"):
        timeline.lasted({("ready", "a"): 11.0}, STAGES, began=10.0)


def words(labels: dict[str, str], **conditions: str) -> list[str]:
    entries = [{"type": name, "status": status} for name, status in conditions.items()]
    running = [{"state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}}]
    status = {"conditions": entries, "containerStatuses": running}
    return list(timeline.words({"kind": "Pod", "metadata": {"labels": labels}, "status": status}))


def test_a_submitter_is_no_pod_of_rays() -> None:
    head = words({"ray.io/node-type": "head"}, PodScheduled="True", Ready="False")
    assert head == ["Ray pod scheduled", "Ray pod started"]
    assert words({}, PodScheduled="True", Ready="True") == ["pod scheduled", "pod started", "pod ready"]


def test_a_job_that_is_refused_is_not_accepted() -> None:
    job = {"kind": "TrainingJob", "status": {"conditions": [{"type": "Accepted", "status": "False"}]}}
    assert list(timeline.words(job)) == []
    job["status"] = {"conditions": [{"type": "Accepted", "status": "True"}]}
    assert list(timeline.words(job)) == ["TrainingJob accepted"]


def test_the_ratio_is_that_of_neighbours() -> None:
    baselines = [{"first step": seconds} for seconds in (10.0, 20.0, 10.0)]
    ours = [{"accepted": 1.0, "first step": seconds} for seconds in (10.0, 19.0, 13.0)]
    found = compared("ray", baselines, ours)
    assert found["ray: to the first step"] == result(1.1, "× baseline", "≤ 1.3")
    assert found["ray, ours: whole"]["value"] == 14


def test_the_stages_stand_side_by_side() -> None:
    found = compared("ray", [{"first step": 2.5}], [{"accepted": 0.5, "first step": 2.0}])
    assert tables(found).splitlines()[2:] == [
        "| ray: to the first step | 1 × baseline | ≤ 1.3 | yes |",
        "",
        "| ray: until | baseline | ours |",
        "|---|---:|---:|",
        "| accepted |  | 0.5 s |",
        "| first step | 2.5 s | 2 s |",
        "| whole | 2.5 s | 2.5 s |",
    ]


def test_the_start_of_a_program_and_a_function_are_reported_once(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(Path(event_reporter.__file__).read_text())
    (tmp_path / "looked_at.py").write_text(MODULE)
    (tmp_path / "program.py").write_text(PROGRAM)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as wire:
        wire.bind(("127.0.0.1", 0))
        wire.settimeout(10)
        settings = {"program": "program.py", "after": {"looked_at": {"Reader.read": "read"}}}
        env = {one["name"]: one["value"] for one in shapes.environment(settings, wire.getsockname())}
        command = [sys.executable, str(tmp_path / "program.py")]
        subprocess.run(command, check=True, env={**os.environ, **env, "PYTHONPATH": str(tmp_path)})
        entries = [json.loads(wire.recv(1000)) for _ in range(2)]
        wire.setblocking(False)
        with pytest.raises(BlockingIOError):
            wire.recv(1000)
    assert [one["word"] for one in entries] == ["program began", "read"]
    assert entries[0]["who"] == entries[1]["who"]


def test_the_functions_that_it_reports_exist() -> None:
    """A function that is renamed would never be reported. A new process imports the modules, as they load torch."""
    paths = [(module, path) for module, functions in shapes.OURS["after"].items() for path in functions]
    resolve = "functools.reduce(getattr, path.split('.'), importlib.import_module(module))"
    script = f"import functools, importlib\nfor module, path in {paths!r}: {resolve}"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_gpu_counts_from_when_its_pod_is_scheduled() -> None:
    limits: list[dict[str, str]] = [{}, {"nvidia.com/gpu": "2"}]
    pods = {str(at): {"spec": {"containers": [{"resources": {"limits": one}}]}} for at, one in enumerate(limits)}
    seen = {("pod scheduled", "0"): 1.0, ("Ray pod scheduled", "1"): 4.0, ("pod started", "1"): 9.0}
    assert timeline.gpu_seconds(pods, seen, "nvidia.com/gpu", until=10.0) == 2 * 6.0
