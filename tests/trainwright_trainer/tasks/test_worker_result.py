from __future__ import annotations

import pickle

import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.errors import EnvironmentFailure, StoppedRun
from trainwright_trainer.tasks.worker_result import Failed, WorkerCrash


def crossed(error):
    """The exception that the driver raises after a worker has sent `error`."""
    try:
        raise error
    except Exception as caught:
        failed = pickle.loads(pickle.dumps(Failed.of(caught)))
    try:
        failed.answer()
    except Exception as found:
        return found
    raise AssertionError("it was an answer")


@pytest.mark.parametrize("error", [EnvironmentFailure("the disk is full"), StoppedRun("stopped by SIGINT")])
def test_one_line_stays_what_it_is(error):
    found = crossed(error)
    assert (type(found), str(found)) == (type(error), str(error))


def test_all_mistakes_arrive():
    error = Mistakes([*Mistakes.one("a", "is wrong").problems, *Mistakes.one("b", "too").problems])
    found = crossed(error)
    assert isinstance(found, Mistakes)
    assert found.problems == error.problems


def test_a_bug_brings_its_traceback():
    found = crossed(ZeroDivisionError("division by zero"))
    assert isinstance(found, WorkerCrash)
    assert str(found) == "ZeroDivisionError: division by zero"
    assert "raise error" in found.__notes__[0]
