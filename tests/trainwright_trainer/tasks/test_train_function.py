"""Runs of a train function on a real Ray, with the run folder in S3: failures, a resumed run, a stop."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from trainwright_trainer.storage.registry import storage_at
from trainwright_trainer.tasks.train_function import without_score

FUNCTION = """
import os, time
import ray.train
from trainwright.ray import Checkpoint, get_checkpoint

def train(config):
    found = get_checkpoint()
    start = 0 if found is None else found.to_dict()["epoch"] + 1
    print("begins at epoch", start)
    for epoch in range(start, config["epochs"]):
        if epoch == config["fails_at"] and not os.path.exists("repaired"):
            raise ValueError(f"epoch {epoch} fails")
        ray.train.report({"loss": 1 / (epoch + 1), "epoch": epoch}, checkpoint=Checkpoint.from_dict({"epoch": epoch}))
    while config.get("waits") and not os.path.exists("repaired"):
        time.sleep(0.1)
"""
SECONDS = 300


def job(folder: Path, output: str, **config: object) -> None:
    (folder / "own.py").write_text(FUNCTION)
    entrypoint = {"module": "own", "function": "train", "config": {"epochs": 4, "fails_at": -1, **config}}
    trainer = {"num_workers": 1, "max_retries": 1}
    spec = {"entrypoint": entrypoint, "backend": {"type": "ray", "trainer": trainer}, "output": output}
    (folder / "job.yaml").write_text(json.dumps(spec))


def started(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "trainwright_trainer", "train", "job.yaml", *arguments]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def epochs(output: str) -> list[int]:
    rows = json.loads(storage_at(f"{output}/job").read("reports.json"))["reports"]
    return [row["metrics"]["epoch"] for row in rows]


def test_a_function_that_fails_is_retried_and_a_resumed_run_goes_on_from_its_checkpoint(
    tmp_path: Path, bucket: str
) -> None:
    output = f"{bucket}/runs"
    job(tmp_path, output, fails_at=2)
    first = started(tmp_path)
    out, err = first.communicate(timeout=SECONDS)
    assert first.returncode == 1, (out, err)
    assert err == "own.train failed on rank 0: ValueError: epoch 2 fails\n"
    begins = [line for line in out.splitlines() if line.startswith("begins")]
    assert begins == ["begins at epoch 0", "begins at epoch 2"]
    assert out.count("rank 0: ValueError: epoch 2 fails") == 2
    outcome = json.loads(storage_at(f"{output}/job").read("attempts/1/outcome.json"))
    assert (outcome["class"], outcome["line"]) == ("crash", err.strip())
    assert epochs(output) == [0, 1]

    (tmp_path / "repaired").touch()
    second = started(tmp_path, "--resume")
    out, err = second.communicate(timeout=SECONDS)
    assert second.returncode == 0, (out, err)
    assert "begins at epoch 2\n" in out
    assert epochs(output) == [0, 1, 2, 3]
    third = started(tmp_path, "--resume")
    out, err = third.communicate(timeout=SECONDS)
    assert (third.returncode, err) == (0, "")
    assert out.endswith(f"{output}/job: job is done. To start anew, use --overwrite.\n")


def test_a_stop_ends_it_and_names_the_checkpoint(tmp_path: Path) -> None:
    job(tmp_path, str(tmp_path / "out"), waits=True)
    process = started(tmp_path)
    assert process.stdout is not None
    assert process.stderr is not None
    for line in process.stdout:
        if line.startswith("report 4 "):
            break
    os.kill(process.pid, signal.SIGTERM)
    rest = process.stdout.read()
    line = process.stderr.read()
    assert process.wait(SECONDS) == 75, (rest, line)
    checkpoint = json.loads((tmp_path / "out/job/reports.json").read_text())["reports"][-1]["checkpoint"]
    assert line == f"stopped by SIGTERM: it goes on from {checkpoint}, with --resume\n"
    process.stdout.close()
    process.stderr.close()


def test_a_checkpoint_without_the_metric_that_ranks_it_is_told() -> None:
    reported = {"loss": 0.5, "epoch": 1.0}
    line = without_score("los", reported, "checkpoint_1")
    found = "checkpoint_1 ranks last, its report has no los; it has loss, epoch"
    assert line == f"checkpoint.scoreAttribute: {found}"
    for attribute, checkpoint in (("loss", "checkpoint_1"), (None, "checkpoint_1"), ("los", None)):
        assert not without_score(attribute, reported, checkpoint)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--gpus", "1"), "--gpus: acts with backend local"),
        (("--dataset", "data.csv"), "dataset: does not act with an entrypoint"),
        (("--backend", "local"), "--backend: an entrypoint runs under Ray Train: ray, not local"),
    ],
)
def test_options_that_contradict_it(workplace, arguments: tuple[str, ...], line: str) -> None:
    job(workplace.folder, "out")
    assert workplace.refused("train", "job.yaml", *arguments).startswith(f"job.yaml: {line}")


def test_a_missing_module_is_refused_before_anything_is_written(workplace) -> None:
    job(workplace.folder, "out")
    (workplace.folder / "own.py").unlink()
    assert workplace.refused("train", "job.yaml").startswith("job.yaml: entrypoint.module: there is no module own")
