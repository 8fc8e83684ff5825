"""The function that Ray Tune runs in a trial's process."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ray import tune
from ray.actor import ActorHandle

from trainwright_trainer.backends.launchers import forget_launch
from trainwright_trainer.backends.ray.environment import enter
from trainwright_trainer.runtime.cpus import VARIABLE, first_environment
from trainwright_trainer.search.ray_tune.channel import LEAVES, asked, listening
from trainwright_trainer.search.trial_run import TrialSetting, TrialStop, run_trial
from trainwright_trainer.search.trials import Origin

# A stopped trial writes its checkpoint before its process takes the next one.
_SECONDS_TO_STOP = "120"


@dataclass(frozen=True)
class Process:
    """The process of a trial: the driver's working folder, and whether it has a GPU of its own."""

    folder: str
    has_gpu: bool

    def prepare(self, threads: int | None) -> None:
        """Give this process the folder, the threads and the device that a run of the driver would have."""
        enter(self.folder)
        forget_launch(os.environ)
        os.environ["TUNE_FUNCTION_THREAD_TIMEOUT_S"] = _SECONDS_TO_STOP
        if threads is None:  # Ray sets the variable to the trial's CPUs
            given = first_environment().get(VARIABLE)
            os.environ.pop(VARIABLE, None)
            os.environ.update({} if given is None else {VARIABLE: given})
        if not self.has_gpu:
            os.environ["CUDA_VISIBLE_DEVICES"] = ""


class LostNode(Exception):
    """The trial has written a checkpoint, because its node goes away. Tune starts it again on another one."""


def trainable(config: Mapping[str, Any], setting: TrialSetting, process: Process, channel: ActorHandle[Any]) -> None:
    """Run or repeat one trial."""
    process.prepare(setting.threads)
    trial, stop = config["trial"], TrialStop()
    begin: int = asked(channel.rounds, trial["name"])
    if trial["known"] is None:
        with listening(channel, stop.ask_from_a_thread):
            origin = next((Origin(**one) for one in trial["origin"]), None)
            goes_on = run_trial(setting, trial["name"], trial["values"][0], report, begin, stop, origin)
    else:
        goes_on = all(report(result) for result in trial["known"] if result["round"] > begin)
    if goes_on:
        return
    if stop.news == LEAVES:
        raise LostNode(LEAVES)
    if stop.news is None:
        sys.exit(0)  # Tune has stopped the trial: it waits for this thread, and takes no more results


def report(result: Mapping[str, Any]) -> bool:
    """Send a result to Tune. Returns False if Tune stops or pauses the trial."""
    try:
        tune.report(dict(result))
    except SystemExit:  # Tune ends the thread of a stopped trial in this way
        return False
    return True
