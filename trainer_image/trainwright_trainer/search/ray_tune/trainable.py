"""The function that Ray Tune runs in a trial's process."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ray import tune

from trainwright_trainer.search.trial_run import TrialSetting, run_trial

_ROUNDS = "rounds.json"
# A stopped trial writes its checkpoint before its process takes the next one.
_SECONDS_TO_STOP = "120"


def trainable(config: Mapping[str, Any], setting: TrialSetting, folder: str, has_gpu: bool, pauses: bool) -> None:
    """Run or repeat one trial. `folder`: the driver's working folder; `pauses`: the scheduler continues trials."""
    prepare_process(folder, setting.threads, has_gpu=has_gpu)
    trial, begin = config["trial"], _rounds_before()
    report = Report(pauses=pauses)
    if trial["known"] is None:
        goes_on = run_trial(setting, trial["name"], trial["values"][0], report, begin)
    else:
        goes_on = all(report(result) for result in trial["known"][begin:])
    if not goes_on:
        sys.exit(0)  # Tune waits for this thread, and takes no more results


def prepare_process(folder: str, threads: int | None, *, has_gpu: bool) -> None:
    """Give the process the working folder of the driver, and the threads and the device that a run there would have."""
    os.chdir(folder)
    os.environ["TUNE_FUNCTION_THREAD_TIMEOUT_S"] = _SECONDS_TO_STOP
    if threads is None:
        os.environ.pop("OMP_NUM_THREADS", None)  # Ray sets it to the trial's CPUs
    if not has_gpu:
        os.environ["CUDA_VISIBLE_DEVICES"] = ""


class Report:
    """Sends results to Tune. A paused trial finds in its checkpoint how many of its rounds Tune has."""

    def __init__(self, *, pauses: bool) -> None:
        self._pauses = pauses
        self._seconds = 0.0

    def __call__(self, result: Mapping[str, Any]) -> bool:
        spent = max(0.0, result["seconds"] - self._seconds)
        self._seconds = result["seconds"]
        metrics = {**result, "time_this_iter_s": spent}
        try:
            if not self._pauses:
                tune.report(metrics)
                return True
            with TemporaryDirectory(prefix="trainwright-trial-") as folder:
                Path(folder, _ROUNDS).write_text(json.dumps(result["round"]), encoding="utf-8")
                tune.report(metrics, checkpoint=tune.Checkpoint.from_directory(folder))
        except SystemExit:  # Tune ends the thread of a stopped trial in this way
            return False
        return True


def _rounds_before() -> int:
    """The number of rounds that Tune has of this trial, which the scheduler had paused."""
    checkpoint = tune.get_checkpoint()
    if checkpoint is None:
        return 0
    with checkpoint.as_directory() as folder:
        return int(json.loads(Path(folder, _ROUNDS).read_text(encoding="utf-8")))
