"""Workers that a run starts by itself for the backends deepspeed and horovod: a kill, a signal, a mistake."""

from __future__ import annotations

import signal

import pytest

from .test_gang import losses, small
from .test_launchers import Started

pytestmark = pytest.mark.slow
STOPPED, MISTAKE = 75, 2


def on(backend, **trainer):
    def change(spec):
        small(spec)
        spec["backend"] |= {"type": backend, "trainer": {"num_workers": 2, **trainer}}

    return change


class Run(Started):
    """`trainwright train`, without a launcher."""

    command = ()
    rank_variable = "RANK"


def test_a_lost_worker_is_replaced_with_the_same_curve(place, environment):
    run = place(on("horovod", max_retries=1))
    started = Run(run, environment)
    started.until_steps(30)
    started.kill_rank(1)
    assert started.wait() == 0, started.output.read_text()
    assert run.attempts()[1]["checkpoint"] is not None
    assert run.outcome(2)["class"] == "done"
    assert "job.yaml: this run has started 2 processes: strategy horovod\n" in started.output.read_text()
    alone = place(small, run="alone")
    alone.finish()
    assert losses(run) == pytest.approx(losses(alone), rel=1e-9, abs=1e-9)


def test_without_a_retry_a_lost_worker_ends_the_run(place, environment):
    run = place(on("horovod", max_retries=0))
    started = Run(run, environment)
    started.until_steps(30)
    started.kill_rank(1)
    assert started.wait() == 3
    last = started.output.read_text().splitlines()[-1]
    assert last == "workers were lost, and no retry is left. --resume goes on from the newest checkpoint"


def test_a_signal_stops_all_with_a_checkpoint_and_a_mistake_is_one_line(place, environment):
    run = place(on("horovod"))
    started = Run(run, environment)
    started.until_steps(30)
    started.process.send_signal(signal.SIGTERM)
    assert started.wait() == STOPPED, started.output.read_text()
    last = started.output.read_text().splitlines()[-1]
    assert last.startswith("stopped by SIGTERM")
    assert last.endswith(f"Go on with: trainwright train job.yaml --output {run.run} --resume")
    again = Run(run, environment, "--seed", "1", "--resume")
    assert again.wait() == MISTAKE
    assert again.output.read_text() == "job.yaml: seed: is 1, the run has 42\n"
