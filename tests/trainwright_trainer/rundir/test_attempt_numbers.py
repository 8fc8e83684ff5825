"""The numbers of attempts: concurrent, superseded and refused ones."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

from trainwright_trainer.errors import Outcome, UsedAttempt
from trainwright_trainer.rundir import layout
from trainwright_trainer.rundir.attempt import begin
from trainwright_trainer.rundir.preflight import ExistingRun
from trainwright_trainer.rundir.record import write_outcome
from trainwright_trainer.storage.local import FolderStorage

from .started_attempt import start, written_start


def test_the_operator_names_the_number(storage: FolderStorage) -> None:
    assert start(storage, number=4).number == 4


@pytest.mark.parametrize("number", [2, 3])
def test_a_number_that_the_run_has_passed_is_refused_and_the_next_free_one_named(
    storage: FolderStorage, number: int
) -> None:
    """Attempt 2 has no start.json, but attempt 3 is newer; attempt 4 ended before it started."""
    start(storage, number=1)
    start(storage, ExistingRun.CONTINUE, number=3)
    write_outcome(storage, 4, Outcome("environment", "no room on the disk"))
    with pytest.raises(UsedAttempt, match=f"attempt {number} of this run has begun already; 5 is next$"):
        start(storage, ExistingRun.CONTINUE, number=number)
    assert storage.list(layout.attempt_folder(2)) == []


def test_the_next_number_reaches_the_process_that_reports() -> None:
    sent = pickle.loads(pickle.dumps(UsedAttempt("used", 5)))
    outcome = Outcome.of(Outcome.of(sent).error())
    assert (outcome.kind, outcome.line, outcome.next_attempt) == ("environment", "used", 5)


def test_of_two_attempts_of_one_number_the_second_is_refused(storage: FolderStorage) -> None:
    """The other one begins between the look at the folder and the creation of start.json."""

    class Late(FolderStorage):
        def create(self, name: str, data: bytes) -> bool:
            storage.write(name, [data])
            return super().create(name, data)

    with pytest.raises(UsedAttempt, match="2 is next"):
        start(Late(storage.root), number=1)


def test_a_number_with_an_outcome_alone_is_not_given_again(storage: FolderStorage) -> None:
    """In a pod, an attempt may end before it starts. Its outcome must not count as the outcome of another attempt."""
    write_outcome(storage, 1, Outcome("mistake", "no such column"))
    assert start(storage).number == 2
    write_outcome(storage, 3, Outcome("done", "the model is there"))
    assert start(storage, ExistingRun.RESUME).number == 4


def test_an_attempt_that_never_began_supersedes_nobody(storage: FolderStorage) -> None:
    first = start(storage)
    write_outcome(storage, 2, Outcome("environment", "the disk is full"))
    assert not first.superseded()
    start(storage, ExistingRun.CONTINUE, number=3)
    assert first.superseded()


def test_a_newer_attempt_supersedes_an_older_one(storage: FolderStorage) -> None:
    first = start(storage)
    assert not first.superseded()
    second = start(storage, ExistingRun.RESUME)
    assert first.superseded()
    assert not second.superseded()


# Two processes have both called `look` and verified, and take the number at the same moment. One program forks both,
# because importing torch takes longer than all other steps.
_STARTERS = """
import os, sys
from pathlib import Path
from trainwright_api.problems import Mistakes
from trainwright_trainer.rundir.attempt import begin
from trainwright_trainer.rundir.preflight import ExistingRun
from trainwright_trainer.storage.local import FolderStorage

class Racing(FolderStorage):
    def create(self, name, data):
        os.write(ready[1], b".")
        os.read(gate[0], 1)
        return super().create(name, data)

def starter(name):
    try:
        line = begin(Racing(Path(sys.argv[1])), {"spec": {}}, ExistingRun(sys.argv[2]), name=name).number
    except Mistakes as mistakes:
        line = mistakes
    os.write(1, f"{name} {line}\\n".encode())
    os._exit(0)

ready, gate = os.pipe(), os.pipe()
for name in "ab":
    if not os.fork():
        starter(name)
for name in "ab":
    os.read(ready[0], 1)
os.write(gate[1], b"..")
for name in "ab":
    os.wait()
"""


@pytest.mark.parametrize("how", [ExistingRun.NEW, ExistingRun.OVERWRITE])
def test_of_two_starters_one_wins_and_the_other_gets_one_line(storage: FolderStorage, how: ExistingRun) -> None:
    if how is ExistingRun.OVERWRITE:
        begin(storage, {"spec": {}}, ExistingRun.NEW, name="flights")
        write_outcome(storage, 1, Outcome("stopped", "stopped by SIGTERM"))  # otherwise this process still runs it
    number = 1 if how is ExistingRun.NEW else 2
    command = [sys.executable, "-c", _STARTERS, str(storage.root), how.value]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    refused = f"{storage.location}: another process has just begun attempt {number} of this run"
    assert set(lines.values()) == {str(number), refused}
    winner = next(name for name, line in lines.items() if line == str(number))
    assert written_start(storage, number)["name"] == winner
    assert storage.list(layout.ATTEMPTS) == [f"{number}/"]
    assert storage.list(layout.attempt_folder(number)) == ["start.json"]
