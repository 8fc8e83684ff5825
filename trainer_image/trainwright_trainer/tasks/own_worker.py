"""A worker that a run has started by itself: `python -m trainwright_trainer.tasks.own_worker`."""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import sys
from contextlib import closing, redirect_stderr, redirect_stdout
from pathlib import Path

from trainwright_trainer.backends.launchers import Launch, launch_of
from trainwright_trainer.backends.workers import Start, lost_at
from trainwright_trainer.callbacks.console import Console
from trainwright_trainer.errors import ExitCode, LostRank, Outcome
from trainwright_trainer.runtime.preload import preload_imports
from trainwright_trainer.runtime.signals import StopRequest, ending_on_signals, stopping_on_signals
from trainwright_trainer.tasks.launched_run import run_launched
from trainwright_trainer.tasks.result import Result

_PARENT_DEATH_SIGNAL = 1


def main() -> int:
    """Train, and write the end of rank 0 for the process that has started this one. Returns the exit code."""
    preload_imports()
    start: Start = pickle.load(sys.stdin.buffer)
    ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGTERM)
    launch = launch_of(os.environ)
    assert launch is not None
    with ending_on_signals(), stopping_on_signals(StopRequest()) as stop:
        end = _trained(start, launch, stop)
    if end is None:
        return ExitCode.ENVIRONMENT
    if launch.rank == 0:
        _write(start.end, end)
    return ExitCode.DONE if isinstance(end, Result) else end.exit_code


def _trained(start: Start, launch: Launch, stop: StopRequest) -> Result | Outcome | None:
    """The end of this rank. None if a rank was lost, after which all are started again."""
    console = Console(as_json=start.job.options.json, quiet=start.quiet or launch.rank > 0)
    try:
        with closing(console):
            return run_launched(launch, start.job, console, stop, lambda *_: None)
    except LostRank as lost:
        if lost.cause:
            lost_at(start.end, launch.rank).write_text(lost.cause)
        return None
    except Exception as error:  # the outermost edge of this process
        return Outcome.traced(error)


def _write(path: Path, end: Result | Outcome) -> None:
    """A reader sees all or nothing."""
    part = path.with_suffix(".part")
    part.write_bytes(pickle.dumps(end))
    part.rename(path)


if __name__ == "__main__":
    if os.environ["RANK"] == "0":
        sys.exit(main())
    with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        sys.exit(main())
