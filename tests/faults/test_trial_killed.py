"""After SIGKILL of a trial's process it goes on from its checkpoint, and the search ends as without the kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

LONGEST = 600.0
SEARCH: dict[str, Any] = {
    "output_feature": "late",
    "metric": "loss",
    "executor": {"num_samples": 1, "max_concurrent_trials": 1},
    "parameters": {"trainer.learning_rate": {"space": "choice", "categories": [0.001]}},
}
EPOCHS = 40


def of_trial(folder: Path) -> int | None:
    """The process of a trial whose working folder is `folder`."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            is_trial = process.joinpath("cmdline").read_bytes().startswith(b"ray::ImplicitFunc")
            if is_trial and process.joinpath("cwd").resolve() == folder:
                return int(process.name)
        except OSError:  # it has ended meanwhile, or is another user's
            continue
    return None


def test_it_goes_on_from_its_checkpoint(workplace: Any) -> None:
    def change(whole: dict[str, Any]) -> None:
        whole["config"]["trainer"] = {"epochs": EPOCHS, "early_stop": -1, "batch_size": 8}
        whole["config"]["hyperopt"] = SEARCH

    job, folder = workplace.job(change), workplace.folder
    command = [sys.executable, "-m", "trainwright_trainer", "hyperopt", job, "--output", "out"]
    with (folder / "log").open("ab") as log:
        search = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, env=dict(os.environ))
    trial, until = folder / "out" / "trials" / "0001", time.monotonic() + LONGEST
    while not list(trial.glob("checkpoints/*/manifest.json")):
        assert search.poll() is None, (folder / "log").read_text()
        assert time.monotonic() < until
        time.sleep(0.05)
    killed = of_trial(folder.resolve())
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    assert search.wait(LONGEST) == 0, (folder / "log").read_text()
    printed = (folder / "log").read_text()
    assert "the process of trial 0001 is lost: it starts again from its newest checkpoint" in printed
    assert "Traceback" not in printed
    assert json.loads((trial / "attempts" / "2" / "start.json").read_text())["checkpoint"]
    known = json.loads((folder / "out" / "search" / "trials" / "0001.json").read_text())
    assert known["end"]["kind"] == "done"
    assert [score["round"] for score in known["scores"]] == list(range(1, EPOCHS + 1))
