"""The real torchrun and horovodrun: a kill of one rank, a resume, and a restart by torchrun."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from .test_gang import losses, small

pytestmark = pytest.mark.slow
LONGEST = 180


class Started:
    """A launcher and its output, in `command`. `rank_variable`: the variable of its processes."""

    command: Sequence[str]
    rank_variable: str

    def __init__(self, run, environment, *flags, options=()):
        self.run = run
        self.output = run.job.with_name(f"started-{len(flags)}.txt")
        self.rows = run.job.with_name(f"started-{len(flags)}.rows")
        train = ["trainwright", "train", "job.yaml", "--output", str(run.run), *flags]
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [*self.command, *options, *train],
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
        wanted = {f"{self.rank_variable}={rank}", f"TRAINWRIGHT_ROW_LOG={self.rows}"}
        [pid] = [int(path.parent.name) for path in Path("/proc").glob("[0-9]*/environ") if wanted <= variables(path)]
        os.kill(pid, signal.SIGKILL)

    def wait(self):
        return self.process.wait(LONGEST)


class Torchrun(Started):
    command = ("torchrun", "--standalone", "--no-python", "--nproc-per-node", "2")
    rank_variable = "RANK"


class Horovodrun(Started):
    command = ("horovodrun", "-np", "2", "-H", "localhost:2")
    rank_variable = "HOROVOD_RANK"


def variables(path):
    try:
        return set(path.read_text(errors="replace").split("\0"))
    except OSError:  # it has ended
        return set()


@pytest.mark.parametrize("launcher", [Torchrun, Horovodrun])
def test_a_killed_rank_and_a_resume(place, environment, launcher):
    run = place(small)
    first = launcher(run, environment)
    first.until_steps(30)
    first.kill_rank(1)
    assert first.wait() != 0
    assert run.outcome(1) is None or run.outcome(1)["class"] == "environment"
    again = launcher(run, environment, "--resume")
    assert again.wait() == 0, again.output.read_text()
    assert "attempt 2 goes on from" in again.output.read_text()
    alone = place(small, run="alone")
    alone.finish()
    assert losses(run) == pytest.approx(losses(alone), rel=1e-9, abs=1e-9)


def test_torchrun_starts_again_and_the_run_continues(place, environment):
    run = place(small)
    launched = Torchrun(run, environment, options=["--max-restarts", "1"])
    launched.until_steps(30)
    launched.kill_rank(1)
    assert launched.wait() == 0, launched.output.read_text()
    first, second = run.attempts()
    assert first["launch"] == second["launch"] is not None
    assert second["checkpoint"] is not None
    assert run.outcome(2)["class"] == "done"
