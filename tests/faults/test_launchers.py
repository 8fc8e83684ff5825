"""The real torchrun and horovodrun: a kill of one rank, a resume, and a restart by torchrun."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from .test_gang import losses, small

pytestmark = pytest.mark.slow
LONGEST = 180
COMMANDS = {
    "torchrun": ["torchrun", "--standalone", "--no-python", "--nproc-per-node", "2"],
    "horovodrun": ["horovodrun", "-np", "2", "-H", "localhost:2"],
}
RANKS = {"torchrun": "RANK", "horovodrun": "HOROVOD_RANK"}


class Started:
    """A launcher and its output."""

    def __init__(self, run, environment, launcher, *flags, options=()):
        self.run, self.launcher = run, launcher
        self.output = run.job.with_name(f"{launcher}-{len(flags)}.txt")
        self.rows = run.job.with_name(f"{launcher}-{len(flags)}.rows")
        command = [*COMMANDS[launcher], *options, "trainwright", "train", "job.yaml", "--output", str(run.run), *flags]
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                command,
                cwd=run.job.parent,
                env={**environment, "TRAINWRIGHT_ROW_LOG": str(self.rows)},
                stdout=output,
                stderr=output,
            )

    def until_steps(self, steps):
        while not (self.rows.exists() and self.rows.read_text().count("\n") >= steps):
            assert self.process.poll() is None, self.output.read_text()

    def kill_rank(self, rank):
        """SIGKILL to a rank of this launcher."""
        wanted = {f"{RANKS[self.launcher]}={rank}", f"TRAINWRIGHT_ROW_LOG={self.rows}"}
        [pid] = [int(path.parent.name) for path in Path("/proc").glob("[0-9]*/environ") if wanted <= variables(path)]
        os.kill(pid, signal.SIGKILL)

    def wait(self):
        return self.process.wait(LONGEST)


def variables(path):
    try:
        return set(path.read_text(errors="replace").split("\0"))
    except OSError:  # it has ended
        return set()


@pytest.mark.parametrize("launcher", COMMANDS)
def test_a_killed_rank_and_a_resume(place, environment, launcher):
    run = place(small)
    first = Started(run, environment, launcher)
    first.until_steps(30)
    first.kill_rank(1)
    assert first.wait() != 0
    assert run.outcome(1) is None or run.outcome(1)["class"] == "environment"
    again = Started(run, environment, launcher, "--resume")
    assert again.wait() == 0, again.output.read_text()
    assert "attempt 2 goes on from" in again.output.read_text()
    alone = place(small, run="alone")
    alone.finish()
    assert losses(run) == pytest.approx(losses(alone), rel=1e-9, abs=1e-9)


def test_torchrun_starts_again_and_the_run_continues(place, environment):
    run = place(small)
    launched = Started(run, environment, "torchrun", options=["--max-restarts", "1"])
    launched.until_steps(30)
    launched.kill_rank(1)
    assert launched.wait() == 0, launched.output.read_text()
    first, second = run.attempts()
    assert first["launch"] == second["launch"] is not None
    assert second["checkpoint"] is not None
    assert run.outcome(2)["class"] == "done"
