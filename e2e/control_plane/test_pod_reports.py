"""A real `trainwright run`, as in a pod, reports to the operator's real endpoint and follows its stop requests."""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from testkit.cluster.cluster import Cluster
from testkit.control_plane.operator_process import TIMEOUT_SECONDS
from testkit.control_plane.posting_job import Job
from testkit.server.running import Server, server

from trainwright_trainer.rundir.layout import CheckpointName

STOPPED = 75


def test_a_run_that_is_done_is_reported_to_its_end(cluster: Cluster, namespace: str, tmp_path: Path) -> None:
    async def played() -> Any:
        async with server(cluster, namespace, interval=0.1) as running:
            late = await Job(running, namespace, "late").begin()
            async with _pod(late, running, tmp_path, epochs=2) as pod:
                return await _end(pod), await late.status()

    code, status = asyncio.run(played())
    assert code == 0, _log(tmp_path)
    outcome, progress, run = status["outcome"], status["progress"], tmp_path / "run"
    assert (outcome["attempt"], outcome["outcome"], outcome["message"]) == (1, "done", "the model is there")
    assert outcome["model"] == str(run / "model")
    assert outcome["testScores"] == _test_scores(run)
    assert outcome["logTail"].rstrip().endswith(f"report {run / 'report.html'}")
    assert (progress["fraction"], progress["epoch"], progress["epochs"]) == (1.0, 2, 2)
    assert progress["summary"] == "100%"
    assert progress["metric"].startswith("loss=0.")  # so few validation rows let the loss decide
    assert 0 < progress["metrics"]["validation.late.roc_auc"] < 1
    assert progress["startPosition"] == 0
    assert status["resolved"] == {"batchSize": 32, "globalBatchSize": 32, "learningRateFactor": 1}


def test_a_suspended_job_stops_with_a_checkpoint(cluster: Cluster, namespace: str, tmp_path: Path) -> None:
    """While it trains, its status shows the progress; the position at the stop request is not lost."""
    suspend = ("patch", "tj", "late", f"-n={namespace}", "--type=merge", '-p={"spec": {"suspend": true}}')

    async def played() -> Any:
        async with server(cluster, namespace, interval=0.1) as running:
            late = await Job(running, namespace, "late").begin()
            async with _pod(late, running, tmp_path, epochs=1_000_000) as pod:
                shown = await _until(late, lambda status: "metrics" in status.get("progress", {}), pod)
                await asyncio.to_thread(cluster.kubectl, *suspend)
                return shown["progress"], await _end(pod), await late.status()

    shown, code, status = asyncio.run(played())
    assert code == STOPPED, _log(tmp_path)
    assert (status["outcome"]["attempt"], status["outcome"]["outcome"]) == (1, "stopped")
    assert status["outcome"]["message"].startswith("stopped by the operator (the job is suspended) at epoch ")
    newest = max(filter(None, (CheckpointName.parse(path.name) for path in (tmp_path / "run/checkpoints").iterdir())))
    assert status["progress"]["lastCheckpoint"] == str(newest)
    assert status["progress"]["epoch"] >= shown["epoch"]
    assert json.loads((tmp_path / "run/attempts/1/outcome.json").read_text())["exit_code"] == STOPPED


@asynccontextmanager
async def _pod(late: Job, running: Server, folder: Path, *, epochs: int) -> AsyncIterator[subprocess.Popen[bytes]]:
    """`trainwright run` with the environment and the files that the operator gives to its pods."""
    (folder / "job.yaml").write_text(json.dumps(_job(folder, epochs)))
    (folder / "ca.crt").write_text(running.rotator.bundle)
    (folder / "token").write_text(await late.token())
    variables = {
        "TRAINWRIGHT_ATTEMPT": "1",
        "TRAINWRIGHT_UID": late.uid,
        "TRAINWRIGHT_STAGE": "train",
        "TRAINWRIGHT_CONTRACT": "1",
        "TRAINWRIGHT_RUN": str(folder / "run"),
        "TRAINWRIGHT_PROGRESS_URL": f"https://localhost:{running.port}/v1/namespaces/{late.namespace}/jobs/{late.name}",
        "TRAINWRIGHT_CA": str(folder / "ca.crt"),
        "TRAINWRIGHT_TOKEN_FILE": str(folder / "token"),
    }
    command = [sys.executable, "-m", "trainwright_trainer", "run", str(folder / "job.yaml")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **variables}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, cwd=folder, stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.kill()
        process.wait(TIMEOUT_SECONDS)


def _job(folder: Path, epochs: int) -> Mapping[str, Any]:
    draw = random.Random(1)
    sizes = [draw.gauss(0, 1) for _ in range(400)]
    rows = (f"{size:.3f},{'yes' if size + draw.gauss(0, 0.3) > 0 else 'no'}" for size in sizes)
    (folder / "rows.csv").write_text("\n".join(["size,late", *rows, ""]))
    config = {
        "input_features": [{"name": "size", "type": "number"}],
        "output_features": [{"name": "late", "type": "binary"}],
        "trainer": {"epochs": epochs, "batch_size": 32, "early_stop": -1},
    }
    return {
        "apiVersion": "trainwright.dev/v1alpha1",
        "kind": "TrainingJob",
        "metadata": {"name": "late"},
        "spec": {"dataset": str(folder / "rows.csv"), "output": str(folder), "config": config},
    }


async def _end(pod: subprocess.Popen[bytes]) -> int:
    return await asyncio.to_thread(pod.wait, TIMEOUT_SECONDS)


async def _until(
    late: Job, happened: Callable[[Mapping[str, Any]], bool], pod: subprocess.Popen[bytes]
) -> Mapping[str, Any]:
    """Return the status as soon as `happened` is true of it."""

    async def seen() -> Mapping[str, Any]:
        while not happened(status := await late.status()):
            assert pod.poll() is None, "it ended before"
            await asyncio.sleep(0.05)
        return status

    waiting: Awaitable[Mapping[str, Any]] = seen()
    return await asyncio.wait_for(waiting, TIMEOUT_SECONDS)


def _test_scores(run: Path) -> Mapping[str, float]:
    test = json.loads((run / "metrics.json").read_text())["end"]["test"]
    return {f"{output}.{name}": value for output, scores in test.items() for name, value in scores.items()}


def _log(folder: Path) -> str:
    return (folder / "log").read_text()
