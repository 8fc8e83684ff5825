"""The end of a train function on Ray: its own exceptions, and lost workers. Real runs: tasks/test_train_function.py."""

from __future__ import annotations

import pytest
from ray.exceptions import RayActorError
from ray.train.v2._internal.exceptions import WorkerHealthCheckFailedError
from ray.train.v2.api.exceptions import WorkerGroupError

from trainwright_api.resource.job import Entrypoint
from trainwright_trainer.backends.ray.function import failure_of
from trainwright_trainer.errors import EnvironmentFailure, FunctionFailed, Outcome

ENTRYPOINT = Entrypoint(module="mine", function="train")
LOST = WorkerHealthCheckFailedError("a worker is gone", RayActorError())


def test_its_own_exception_is_named_with_the_lowest_rank() -> None:
    error = WorkerGroupError("rank 1 …", {1: KeyError("b"), 0: ValueError("a\nb")})
    found = failure_of(error, ENTRYPOINT)
    assert isinstance(found, FunctionFailed)
    outcome = Outcome.of(found)
    assert (outcome.kind, outcome.line) == ("crash", "mine.train failed on rank 0: ValueError: a")


@pytest.mark.parametrize(
    "error",
    [
        WorkerGroupError("lost", {0: LOST}),
        WorkerGroupError("lost", {0: RuntimeError("connection closed by peer"), 1: LOST}),
        RuntimeError("the controller is gone"),
    ],
)
def test_a_lost_worker_is_the_cause_of_the_others_exceptions(error: Exception) -> None:
    assert isinstance(failure_of(error, ENTRYPOINT), EnvironmentFailure)
