"""The S3 server of a run is down or too busy. The same attempt continues, and nothing is lost."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import pytest
from testkit.cluster.busy_server import Busy

from trainwright_trainer.storage.location import S3Uri


@pytest.fixture
def stored(place, bucket, object_store):
    """A run in a bucket. The server keeps objects as files, so tests can read them while it is down."""
    name = S3Uri.parse(bucket, "output").bucket
    folder = object_store.folder / "buckets" / name / "run"
    return replace(place(run=folder), output=f"{bucket}/run", around=object_store.environment)


@pytest.fixture
def away(object_store):
    """The server, which the test may kill. It is restarted after the test."""
    yield object_store
    object_store.kill()
    object_store.start()


@pytest.mark.parametrize("seconds", [0, pytest.param(30, marks=pytest.mark.slow)])
def test_a_server_that_is_down_and_then_answers_503_costs_nothing(stored, away, lines, assert_same, seconds):
    child = stored.start()
    child.until(lambda: len(stored.updates(child)) > 60)
    away.kill()
    child.until(lambda: "it is asked again for 150 s" in child.errors)
    assert child.poll(seconds) is None
    with contextlib.closing(Busy(away.address)) as busy:
        child.until(lambda: busy.refused > 4)
    away.start()
    assert child.wait() == 0, child.errors
    # The response to a HEAD request has only the status code.
    causes = (f"no answer from {away.url} (", "the store says SlowDown", "the store says 503")
    assert [line for line in lines(child.errors) if not any(cause in line for cause in causes)] == []
    assert [start["attempt"] for start in stored.attempts()] == [1]
    assert stored.outcome(1)["class"] == "done"
    assert_same(stored)


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on_from_its_bucket(stored, assert_same):
    for _ in range(2):
        child = stored.go_on()
        child.until(lambda child=child: len(stored.updates(child)) > 40 and stored.checkpoints())
        child.kill()
    stored.finish("--resume")
    assert [start["attempt"] for start in stored.attempts()] == [1, 2, 3]
    assert_same(stored)
