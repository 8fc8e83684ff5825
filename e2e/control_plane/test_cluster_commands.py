"""`trainwright logs`, `report`, `stop` and `resume` beside kubectl, on a real API server without pods."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from testkit.cluster.cluster import Cluster
from testkit.harness import training_job

NAME = "flights"


class CommandLine:
    """`trainwright` on a laptop with kubectl and a job of the cluster."""

    def __init__(self, cluster: Cluster, namespace: str, folder: Path) -> None:
        self.cluster, self.namespace, self.folder = cluster, namespace, folder
        job = {"apiVersion": "trainwright.dev/v1alpha1", "kind": "TrainingJob", **training_job(NAME, "local")}
        cluster.kubectl("create", f"-n={namespace}", "-f", "-", stdin=json.dumps(job))

    def __call__(self, command: str, job: str = f"tj/{NAME}", *more: str) -> tuple[int, str]:
        path = f"{self.cluster.kubectl.program.parent}:{os.environ['PATH']}"
        ended = subprocess.run(
            [sys.executable, "-m", "trainwright_trainer", command, job, f"--namespace={self.namespace}", *more],
            cwd=self.folder,
            env={**os.environ, **self.cluster.kubectl.environment, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        return ended.returncode, (ended.stdout + ended.stderr).strip()

    def job(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(
            self.cluster.kubectl("get", f"-n={self.namespace}", "tj", NAME, "--output=json")
        )
        return found

    def has(self, status: Mapping[str, Any]) -> None:
        patch = f"--patch={json.dumps({'status': status})}"
        self.cluster.kubectl("patch", f"-n={self.namespace}", "tj", NAME, "--subresource=status", "--type=merge", patch)


@pytest.fixture
def call(cluster: Cluster, namespace: str, tmp_path: Path) -> CommandLine:
    return CommandLine(cluster, namespace, tmp_path)


def test_a_job_is_stopped_and_goes_on(call: CommandLine) -> None:
    call.has({"phase": "Running"})
    assert call("stop") == (
        0,
        "tj/flights writes a checkpoint and stops; trainwright resume tj/flights lets it go on",
    )
    assert call.job()["spec"]["suspend"] is True
    assert call("resume") == (0, "tj/flights goes on from its newest checkpoint")
    assert call.job()["spec"]["suspend"] is False


def test_what_has_ended_is_neither_stopped_nor_resumed(call: CommandLine) -> None:
    now = "2026-11-25T01:00:00Z"
    call.has(
        {
            "conditions": [
                {"type": "Failed", "status": "True", "reason": "Mistake", "message": "", "lastTransitionTime": now}
            ]
        }
    )
    line = "tj/flights: it has ended (Failed), and cannot be stopped or resumed"
    assert call("stop") == call("resume") == (2, line)
    assert not call.job()["spec"].get("suspend")


def test_the_report_is_copied_from_the_run_folder(call: CommandLine) -> None:
    assert call("report") == (2, "tj/flights: it has no run folder yet")
    run = call.folder / "run"
    run.mkdir()
    call.has({"output": str(run)})
    assert call("report") == (2, f"tj/flights: there is no report.html in {run}, as seen from this machine")
    (run / "report.html").write_text("<html>")
    assert call("report") == (0, "flights-report.html")
    assert (call.folder / "flights-report.html").read_text() == "<html>"
    assert call("report", f"tj/{NAME}", "--output=mine.html") == (0, "mine.html")
    code, line = call("report", f"tj/{NAME}", "--output=gone/mine.html")
    assert (code, line) == (3, "gone/mine.html cannot be written: No such file or directory")


def test_the_log_outlives_the_pods(call: CommandLine) -> None:
    code, line = call("logs")
    assert (code, line) == (2, "tj/flights: no attempt has started yet: it waits")
    call.has({"attempt": 2, "logTail": "epoch 3\nkilled", "output": str(call.folder / "run")})
    gone = "attempt 2 has no pods any more, and the run folder keeps no log of it"
    assert call("logs") == (0, f"{gone}; this is the end of its log:\nepoch 3\nkilled")
    kept = call.folder / "run" / "logs" / "attempt-2"
    kept.mkdir(parents=True)
    (kept / "train-0.log").write_text("epoch 1\nepoch 2\nepoch 3\nkilled\n")
    assert call("logs") == (0, "epoch 1\nepoch 2\nepoch 3\nkilled")


@pytest.mark.parametrize(
    ("job", "code", "line"),
    [
        ("pod/flights", 2, "pod/flights: expected the name of a TrainingJob, as in tj/flights"),
        ("flights", 2, "flights: expected tj/flights, the name of a TrainingJob"),
        ("tj/-flights", 2, "tj/-flights: expected the name of a TrainingJob, as in tj/flights"),
        ("tj/gone", 2, 'tj/gone: Error from server (NotFound): trainingjobs.trainwright.dev "gone" not found'),
    ],
)
def test_another_name_is_a_mistake_of_one_line(call: CommandLine, job: str, code: int, line: str) -> None:
    assert call("stop", job) == (code, line)
