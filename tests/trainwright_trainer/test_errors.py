"""The outcome of a run, from its exception."""

from __future__ import annotations

import errno
import pickle
import traceback

import pytest

from trainwright_api.problems import Mistakes, Problem
from trainwright_trainer.errors import EnvironmentFailure, ExitCode, Outcome, StoppedRun, WorkerCrash, losing


@pytest.mark.parametrize(
    ("error", "kind", "code"),
    [
        (Mistakes.one("seed", "is 1"), "mistake", ExitCode.MISTAKE),
        (EnvironmentFailure("the disk is full"), "environment", ExitCode.ENVIRONMENT),
        (MemoryError(), "environment", ExitCode.ENVIRONMENT),
        (StoppedRun("stopped by SIGINT"), "stopped", ExitCode.STOPPED),
        (OSError(errno.ENOSPC, "No space left on device"), "environment", ExitCode.ENVIRONMENT),
        (ZeroDivisionError("division by zero\nand more"), "crash", 1),
    ],
)
def test_what_an_exception_means(error: BaseException, kind: str, code: int) -> None:
    found = Outcome.of(error)
    assert (found.kind, found.exit_code) == (kind, code)
    assert found.line
    assert "\n" not in found.line


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (KeyError("gone"), "KeyError: 'gone'"),
        (AssertionError(), "AssertionError"),
        (MemoryError(), "not enough memory on this machine"),
        (StoppedRun("stopped by SIGTERM\nhere"), "stopped by SIGTERM"),
        (OSError(errno.ENOSPC, "No space left on device"), "No space left on device"),
        (OSError(errno.ENOSPC, "No space left on device", "/tmp/a"), "/tmp/a: No space left on device"),
    ],
)
def test_its_one_line(error: BaseException, line: str) -> None:
    assert Outcome.of(error).line == line


def crossed(error):
    """The exception that the driver raises after a worker has sent `error`."""
    try:
        raise error
    except Exception as caught:
        outcome = pickle.loads(pickle.dumps(Outcome.of(caught, traceback.format_exc().splitlines())))
    return outcome.error()


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


def test_a_notebook_shows_a_message_without_a_traceback():
    """IPython prints these lines. It prints the traceback of an exception that has no such method."""
    both = Mistakes([Problem("seed", "is 1"), Problem("output", "is missing")])
    assert both._render_traceback_() == ["Mistakes: 2 mistakes", "  seed    is 1", "  output  is missing"]
    assert EnvironmentFailure("the disk is full")._render_traceback_() == ["EnvironmentFailure: the disk is full"]
    assert not hasattr(WorkerCrash("a bug"), "_render_traceback_")


def test_a_loss_is_one_line_and_other_errors_stay_themselves() -> None:
    line = r"^a task was lost, and no retry is left: gone\.$"
    with pytest.raises(EnvironmentFailure, match=line), losing("a task", (OSError,)):
        raise OSError("gone.\nIts log follows.")
    with pytest.raises(ValueError, match="other"), losing("a task", (OSError,)):
        raise ValueError("other")
