"""Population based training as a process: each trial is a run of its own, and its file alone gives its weights."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from trainwright_trainer.storage.registry import storage_at

RATE = {"space": "loguniform", "lower": 0.0001, "upper": 0.1}
DECAY = {"space": "choice", "categories": [0.0, 0.01, 0.1]}
PARAMETERS = {"trainer.learning_rate": RATE, "trainer.optimizer.weight_decay": DECAY}


def population(
    workplace: Any, concurrent: int = 1, members: int = 4, backend: dict[str, Any] | None = None, **scheduler: Any
) -> str:
    """A job with a population, which is perturbed after the second of four epochs."""
    own = {
        "type": "pbt",
        "time_attr": "training_iteration",
        "perturbation_interval": 2,
        "burn_in_period": 0,
        "hyperparam_mutations": PARAMETERS,
        **scheduler,
    }

    def change(job: dict[str, Any]) -> None:
        job["config"]["trainer"].update(epochs=4, optimizer={"type": "adam"})
        job["backend"] = {**job.get("backend", {}), **(backend or {})}
        executor = {"num_samples": members, "max_concurrent_trials": concurrent, "scheduler": own}
        job["config"]["hyperopt"] = {
            "output_feature": "late",
            "metric": "loss",
            "parameters": PARAMETERS,
            "executor": executor,
        }

    return workplace.job(change)


def program(workplace: Any, *arguments: str) -> str:
    """The output of a command that starts Ray."""
    command = [sys.executable, "-m", "trainwright_trainer", *arguments]
    done = subprocess.run(command, cwd=workplace.folder, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def trials(run: Path) -> dict[str, Any]:
    return {path.stem: json.loads(path.read_text()) for path in (run / "search" / "trials").glob("*.json")}


def weights(run: Path) -> bytes:
    return (run / "model" / "weights.safetensors").read_bytes()


def test_a_trial_begins_with_the_checkpoint_of_a_better_one_and_its_file_repeats_it(workplace: Any) -> None:
    program(workplace, "hyperopt", population(workplace, concurrent=2), "--output", "out")
    run = workplace.folder / "out"
    found = trials(run)
    children = {name: one for name, one in found.items() if one["origin"]}
    for name, child in children.items():
        origin = child["origin"]
        assert found[origin["replaces"]]["end"]["kind"] == "replaced"
        place = f"out/search/parents/{origin['trial']}/checkpoints/{origin['checkpoint']}"
        assert f"resumeFrom: {place}" in (run / "trials" / name / "job.yaml").read_text()
        assert child["scores"][0]["step"] > int(origin["checkpoint"].partition("-")[0])
    done = [name for name, one in children.items() if one["end"]["kind"] == "done"]
    assert done
    assert sum(one["end"]["kind"] == "done" for one in found.values()) == 4
    workplace.done("train", f"out/trials/{done[0]}/job.yaml", "--threads", "1", "--output", "alone")
    assert weights(workplace.folder / "alone") == weights(run / "trials" / done[0])
    parents = {one["trial"]: one.get("parent") for one in json.loads((run / "hyperopt.json").read_text())["trials"]}
    assert parents[done[0]] == found[done[0]]["origin"]["trial"]


GANG = {"type": "ray", "trainer": {"num_workers": 2, "resources_per_worker": {"CPU": 0.5}}}


@pytest.mark.slow
def test_a_gang_begins_with_the_checkpoint_of_another_one_in_a_store(workplace: Any, bucket: str) -> None:
    backend = {**GANG, "cache_dir": f"{bucket}/cache"}
    job = population(workplace, members=2, backend=backend, quantile_fraction=0.5, synch=True)
    program(workplace, "hyperopt", job, "--output", f"{bucket}/out")
    out = storage_at(f"{bucket}/out", None)
    rows = json.loads(out.read("hyperopt.json"))["trials"]
    child = next(one for one in rows if one.get("parent"))
    assert child["state"] == "done"
    text = out.read(f"{child['folder']}/job.yaml").decode()
    assert f"resumeFrom: {bucket}/out/search/parents/{child['parent']}/checkpoints/" in text
    (workplace.folder / "child.yaml").write_text(text)
    program(workplace, "train", "child.yaml", "--output", "alone")
    assert weights(workplace.folder / "alone") == out.read(f"{child['folder']}/model/weights.safetensors")
