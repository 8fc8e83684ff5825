"""`trainwright run` with the variables of the pods of an Indexed Job: one process for each pod, and several in one."""

from __future__ import annotations

import json
import signal
import socket

import pytest

from .test_gang import losses, small

LOST, STOPPED, MISTAKE = 143, 75, 2


class Pods:
    """The pods of one attempt, on this machine."""

    def __init__(self, place, workers=2, per_pod=1, attempt=1):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        shared = {
            "TRAINWRIGHT_ATTEMPT": attempt,
            "TRAINWRIGHT_STAGE": "train",
            "TRAINWRIGHT_UID": "abc",
            "TRAINWRIGHT_RUN": place.run,
            "TRAINWRIGHT_WORKERS": workers,
            "TRAINWRIGHT_WORKERS_PER_POD": per_pod,
            "TRAINWRIGHT_MASTER_ADDRESS": "127.0.0.1",
            "TRAINWRIGHT_MASTER_PORT": port,
        }
        self.ranks = []
        for index in range(-(-workers // per_pod)):
            log = {"TRAINWRIGHT_ROW_LOG": str(place.job.with_name(f"rows-{attempt}-{index}"))}
            variables = {name: str(value) for name, value in {**shared, "JOB_COMPLETION_INDEX": index}.items()}
            self.ranks.append(place.driver.start(place.job.parent, "run", place.job.name, environment=variables | log))
        self._log = place.job.with_name(f"rows-{attempt}-0")

    def until_steps(self, steps):
        self.ranks[0].until(lambda: self._log.exists() and self._log.read_text().count("\n") >= steps)

    def codes(self):
        return [child.wait() for child in self.ranks]


def outcome(run, attempt=1):
    return json.loads((run.run / f"attempts/{attempt}/outcome.json").read_text())


@pytest.mark.parametrize(("workers", "per_pod"), [pytest.param(2, 1, marks=pytest.mark.slow), (3, 2)])
def test_the_curve_is_that_of_one_process(place, workers, per_pod):
    alone = place(small, run="alone")
    alone.finish()
    run = place(small)
    pods = Pods(run, workers, per_pod)
    assert pods.codes() == [0] * len(pods.ranks)
    assert losses(run) == pytest.approx(losses(alone), rel=1e-9, abs=1e-9)
    assert f"the operator has started {workers} processes: strategy ddp\n" in pods.ranks[0].output
    assert [child.output for child in pods.ranks[1:]] == [""] * (len(pods.ranks) - 1)


@pytest.mark.parametrize("rank", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_the_loss_of_a_pod_ends_the_others_and_the_next_attempt_goes_on(place, rank):
    """The others exit as after SIGTERM, so that the operator looks at the pod that is gone."""
    alone = place(small, run="alone")
    alone.finish()
    run = place(small)
    pods = Pods(run)
    pods.until_steps(20)
    pods.ranks[rank].kill()
    assert pods.codes()[1 - rank] == LOST
    assert "is gone" in pods.ranks[1 - rank].errors
    assert Pods(run, attempt=2).codes() == [0, 0]
    assert losses(run) == pytest.approx(losses(alone), rel=1e-9, abs=1e-9)


def test_a_signal_to_any_pod_stops_all_of_them_with_a_checkpoint(place):
    run = place(small)
    pods = Pods(run)
    pods.until_steps(20)
    pods.ranks[1].send(signal.SIGTERM)
    assert pods.codes() == [STOPPED, STOPPED]
    assert outcome(run)["class"] == "stopped"
    assert Pods(run, attempt=2).codes() == [0, 0]


def test_a_mistake_is_reported_by_the_first_pod_once(place):
    def wrong(spec):
        small(spec)
        spec["config"]["trainer"]["learning_rate"] = 1e300

    run = place(wrong)
    assert Pods(run).codes() == [MISTAKE, MISTAKE]
    assert outcome(run)["class"] == "mistake"
