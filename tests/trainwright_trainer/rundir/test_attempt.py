"""The start of attempts: new, resumed, overwritten, concurrent, and refused."""

from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.checkpoints import write

from trainwright_api.problems import Mistakes
from trainwright_trainer.errors import AlreadyDone, EnvironmentFailure, Outcome, OutcomeClass, UsedAttempt
from trainwright_trainer.rundir import layout
from trainwright_trainer.rundir.attempt import Attempt, AttemptReference, begin, brought_up
from trainwright_trainer.rundir.layout import CheckpointName
from trainwright_trainer.rundir.preflight import ExistingRun, look
from trainwright_trainer.rundir.record import write_outcome
from trainwright_trainer.rundir.retention import Fence
from trainwright_trainer.rundir.start_point import SourceCheckpoint, run_and_checkpoint
from trainwright_trainer.storage.base import Storage
from trainwright_trainer.storage.local import FolderStorage

JOB: dict[str, Any] = {"spec": {"dataset": "f.csv", "seed": 42, "config": {"trainer": {"epochs": 5}}}}


def job(epochs: int = 5, seed: int = 42) -> dict[str, Any]:
    changed = copy.deepcopy(JOB)
    changed["spec"]["seed"] = seed
    changed["spec"]["config"]["trainer"]["epochs"] = epochs
    return changed


def start(storage: Storage, how: ExistingRun = ExistingRun.NEW, wanted: dict[str, Any] = JOB, **more: Any) -> Attempt:
    return begin(storage, wanted, how, name="flights", **more)


def written_start(storage: Storage, number: int) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(storage.read(layout.start(number)))
    return content


def end(storage: Storage, number: int, kind: OutcomeClass) -> None:
    write_outcome(storage, number, Outcome(kind, "so it ended"))


def harm(storage: FolderStorage, name: CheckpointName) -> None:
    shard = next(path for path in storage.path(name.folder).iterdir() if path.suffix == ".safetensors")
    shard.write_bytes(shard.read_bytes()[:-1])


def test_a_new_run(storage: FolderStorage) -> None:
    attempt = start(storage, content="abc", about={"versions": {"torch": "2"}})
    assert (attempt.number, attempt.fresh, attempt.start_from, attempt.notices) == (1, True, None, ())
    found = written_start(storage, 1)
    assert found["fresh"] is True
    assert found["checkpoint"] is None
    assert found["name"] == "flights"
    assert found["content"] == "abc"
    assert found["job"]["seed"] == 42
    assert found["versions"]["torch"] == "2"
    assert found["pid"] == os.getpid()
    assert storage.list() == ["attempts/"]


@pytest.mark.parametrize(
    ("checkpoints", "kind", "words"),
    [
        (0, None, "flights, 0 checkpoints, ended: no, it runs on this machine"),
        (1, "stopped", "flights, 1 checkpoint, ended: stopped"),
        (3, "done", "flights, 3 checkpoints, ended: done"),
    ],
)
def test_another_run_is_in_the_way(
    storage: FolderStorage, snapshot: Any, checkpoints: int, kind: OutcomeClass | None, words: str
) -> None:
    start(storage)
    for step in range(checkpoints):
        write(storage, snapshot(step))
    if kind:
        end(storage, 1, kind)
    with pytest.raises(Mistakes) as caught:
        start(storage)
    assert str(caught.value) == (
        f"{storage.location} holds another run ({words}). "
        "Use --resume to go on with it, --overwrite to start anew, or another --output."
    )


def test_resume_takes_the_newest_checkpoint(storage: FolderStorage, snapshot: Any) -> None:
    start(storage)
    for step in (5, 9, 7):
        write(storage, snapshot(step))
    attempt = start(storage, ExistingRun.RESUME)
    assert attempt.number == 2
    assert not attempt.fresh
    assert attempt.start_from is not None
    assert attempt.start_from.position.step == 9
    assert written_start(storage, 2)["checkpoint"] == "0000000009-1"
    assert written_start(storage, 2)["fresh"] is False
    assert attempt.fence == Fence(attempt=2, horizon=1, pinned=CheckpointName(9, 1))


def test_damaged_and_torn_ones_are_passed_over_with_one_notice_each(storage: FolderStorage, snapshot: Any) -> None:
    start(storage)
    write(storage, snapshot(5))
    start(storage, ExistingRun.RESUME)
    for step, number in ((7, 2), (9, 1), (11, 2)):
        harm(storage, write(storage, snapshot(step), attempt=number))
    storage.delete(CheckpointName(11, 2).manifest)
    attempt = start(storage, ExistingRun.RESUME)
    assert attempt.pinned == CheckpointName(5, 1)
    first, second = attempt.notices
    assert first.startswith("checkpoint 0000000009-1 is damaged and passed over: shard-00000-00001-")
    assert second.startswith("checkpoint 0000000007-2 is damaged and passed over: shard-00000-00001-")


def test_where_no_checkpoint_is_whole_training_begins_at_the_first_row(storage: FolderStorage, snapshot: Any) -> None:
    start(storage)
    harm(storage, write(storage, snapshot(5)))
    attempt = start(storage, ExistingRun.RESUME)
    assert attempt.start_from is None
    assert attempt.notices[-1] == "there is no checkpoint to go on from: training begins at the first row"
    assert attempt.fence == Fence(attempt=2)


def test_resume_where_there_is_no_run(storage: FolderStorage) -> None:
    with pytest.raises(Mistakes, match=r"holds no run to go on with\. Leave --resume out to begin one"):
        start(storage, ExistingRun.RESUME)
    assert not storage.root.exists()


def test_a_pod_goes_on_or_begins_by_itself(storage: FolderStorage, snapshot: Any) -> None:
    assert start(storage, ExistingRun.CONTINUE).number == 1
    write(storage, snapshot(5))
    assert start(storage, ExistingRun.CONTINUE).pinned == CheckpointName(5, 1)


def test_another_job_is_refused_by_its_paths(storage: FolderStorage) -> None:
    start(storage)
    with pytest.raises(Mistakes, match="seed: is 7, the run has 42"):
        start(storage, ExistingRun.RESUME, job(seed=7))
    with pytest.raises(Mistakes, match=r"config\.trainer\.epochs: is 4, the run has 5"):
        start(storage, ExistingRun.RESUME, job(epochs=4))
    assert storage.list(layout.ATTEMPTS) == ["1/"]


def test_other_data_are_refused(storage: FolderStorage) -> None:
    start(storage, content="a")
    with pytest.raises(Mistakes, match="dataset: its content is not the data"):
        start(storage, ExistingRun.RESUME, content="b")


def test_a_run_that_is_done_goes_on_only_with_more_epochs(storage: FolderStorage, snapshot: Any) -> None:
    start(storage)
    write(storage, snapshot(5))
    end(storage, 1, "done")
    with pytest.raises(AlreadyDone, match=r"flights is done\. To train it further, raise trainer\.epochs"):
        start(storage, ExistingRun.RESUME)
    assert start(storage, ExistingRun.RESUME, job(epochs=6)).pinned == CheckpointName(5, 1)
    with pytest.raises(Mistakes, match=r"config\.trainer\.epochs: is 5, the run has 6"):
        start(storage, ExistingRun.RESUME)


def test_overwrite_begins_anew_and_removes_what_is_the_runs_alone(storage: FolderStorage, snapshot: Any) -> None:
    start(storage)
    write(storage, snapshot(5))
    for name in ("metrics.json", "report.html", "resolved.json", "job.yaml", "model/model.json", "logs/attempt-1/x"):
        storage.write(name, [b"old"])
    storage.write("notes.txt", [b"mine"])
    storage.write("checkpoints/mine/notes.txt", [b"mine"])
    attempt = start(storage, ExistingRun.OVERWRITE, job(seed=7))
    assert (attempt.number, attempt.fresh, attempt.start_from) == (2, True, None)
    assert storage.list() == ["attempts/", "checkpoints/", "notes.txt"]
    assert storage.list(layout.ATTEMPTS) == ["2/"]
    assert storage.list(layout.CHECKPOINTS) == ["mine/"]


def test_overwrite_where_there_is_nothing_is_a_new_run(storage: FolderStorage) -> None:
    assert start(storage, ExistingRun.OVERWRITE).number == 1


def test_a_kill_in_the_middle_of_overwriting_leaves_a_new_run(
    storage: FolderStorage, snapshot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(storage)
    write(storage, snapshot(5))
    end(storage, 1, "done")

    def killed(_self: FolderStorage, _name: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(FolderStorage, "delete", killed)
        with pytest.raises(KeyboardInterrupt):
            start(storage, ExistingRun.OVERWRITE, job(seed=7))
    attempt = start(storage, ExistingRun.RESUME, job(seed=7))
    assert (attempt.number, attempt.first, attempt.start_from) == (3, 2, None)


@pytest.mark.parametrize("how", [ExistingRun.NEW, ExistingRun.OVERWRITE, ExistingRun.CONTINUE])
def test_a_folder_of_the_users_own_is_never_touched(storage: FolderStorage, how: ExistingRun) -> None:
    for name in ("model/mine.bin", "metrics.json", "a.csv", "b.csv", ".gitignore"):
        storage.write(name, [b"mine"])
    with pytest.raises(Mistakes, match=r"holds other things \(a.csv, b.csv, metrics.json, …\) and no run"):
        start(storage, how)
    assert storage.list() == ["a.csv", "b.csv", "metrics.json", "model/"]


def test_hidden_files_and_a_volumes_lost_and_found_are_no_other_things(storage: FolderStorage) -> None:
    storage.write(".gitignore", [b"*"])
    storage.write("lost+found/x", [b""])
    assert start(storage).number == 1


def test_a_kill_before_the_start_was_written_leaves_an_empty_place(storage: FolderStorage) -> None:
    storage.write("attempts/1/.start.json.0011223344556677.tmp", [b"torn"])
    assert start(storage).number == 1


@pytest.mark.parametrize("torn", [b"", b'{"format": 2, "att', b"[]", b'{"format": 2}'])
def test_a_torn_start_takes_its_number_and_nothing_else(storage: FolderStorage, snapshot: Any, torn: bytes) -> None:
    start(storage)
    write(storage, snapshot(5))
    storage.write(layout.start(2), [torn])
    attempt = start(storage, ExistingRun.RESUME)
    assert (attempt.number, attempt.pinned) == (3, CheckpointName(5, 1))


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


def another_run(folder: Path, snapshot: Any, *steps: int, content: str | None = None) -> FolderStorage:
    """A run with checkpoints of these steps."""
    other = FolderStorage(folder)
    start(other, content=content)
    for step in steps:
        write(other, snapshot(step))
    return other


def test_a_run_can_start_from_another_runs_checkpoint(storage: FolderStorage, snapshot: Any, tmp_path: Path) -> None:
    other = another_run(tmp_path / "other", snapshot, 5)
    attempt = start(storage, source=SourceCheckpoint(other))
    assert attempt.start_from is not None
    assert attempt.start_from.position.step == 5
    assert (attempt.pinned, attempt.fence) == (None, Fence(attempt=1, horizon=1))
    assert written_start(storage, 1)["source"] == other.location
    with pytest.raises(Mistakes, match=r"resumeFrom: .*third holds no run"):
        start(FolderStorage(tmp_path / "fourth"), source=SourceCheckpoint(FolderStorage(tmp_path / "third")))


def test_the_reference_names_the_other_run(storage: FolderStorage, snapshot: Any, tmp_path: Path) -> None:
    other = another_run(tmp_path / "other", snapshot, 5)
    reference = AttemptReference.of(start(storage, source=SourceCheckpoint(other)))
    there = reference.attempt(storage, lambda run: FolderStorage(Path(run))).start_from
    assert there is not None
    assert (there.position.step, there.storage.location) == (5, other.location)
    write(storage, snapshot(7))
    brought, _ = brought_up(storage, reference)
    here = brought.attempt(storage, lambda run: FolderStorage(Path(run))).start_from
    assert here is not None
    assert (here.position.step, here.storage.location) == (7, storage.location)


def test_a_retry_before_the_first_checkpoint_starts_from_the_other_run_again(
    storage: FolderStorage, snapshot: Any, tmp_path: Path
) -> None:
    other = another_run(tmp_path / "other", snapshot, 5)
    source = SourceCheckpoint(other)
    start(storage, ExistingRun.CONTINUE, source=source)
    second = start(storage, ExistingRun.CONTINUE, source=source)
    assert second.start_from is not None
    assert (second.number, second.start_from.storage.location, second.notices) == (2, other.location, ())
    write(storage, snapshot(7), attempt=2)
    third = start(storage, ExistingRun.CONTINUE, source=source)
    assert third.start_from is not None
    assert (third.start_from.position.step, third.start_from.storage.location) == (7, storage.location)
    assert written_start(storage, 3)["source"] is None


def test_one_checkpoint_of_the_other_run_can_be_named(storage: FolderStorage, snapshot: Any, tmp_path: Path) -> None:
    other = another_run(tmp_path / "other", snapshot, 5, 9)
    attempt = start(storage, source=SourceCheckpoint(other, CheckpointName(5, 1)))
    assert attempt.start_from is not None
    assert attempt.start_from.position.step == 5
    harm(other, CheckpointName(9, 1))
    third = FolderStorage(tmp_path / "third")
    with pytest.raises(Mistakes, match=r"resumeFrom: .*0000000009-1/ is no whole checkpoint: "):
        start(third, source=SourceCheckpoint(other, CheckpointName(9, 1)))
    with pytest.raises(Mistakes, match=r"resumeFrom: .*0000000007-1/ is no whole checkpoint: manifest.json is missing"):
        start(third, source=SourceCheckpoint(other, CheckpointName(7, 1)))


def test_a_checkpoint_of_another_job_is_refused(storage: FolderStorage, snapshot: Any, tmp_path: Path) -> None:
    other = another_run(tmp_path / "other", snapshot, 5, content="abc")
    with pytest.raises(Mistakes) as refused:
        start(storage, wanted=job(seed=1), content="abc", source=SourceCheckpoint(other))
    assert str(refused.value) == (
        "resumeFrom: a checkpoint is for the same job, but seed: is 1, the run has 42. "
        "To begin with its weights only, name its model"
    )
    with pytest.raises(Mistakes, match=r"dataset: its content is not the data that the run was begun with"):
        start(storage, content="def", source=SourceCheckpoint(other))
    assert start(storage, wanted=job(epochs=9), content="abc", source=SourceCheckpoint(other)).start_from is not None


def test_a_checkpoint_goes_on_with_another_learning_rate_and_from_any_link_of_a_chain(
    storage: FolderStorage, snapshot: Any, tmp_path: Path
) -> None:
    def with_rate(rate: float, source: str | None) -> dict[str, Any]:
        wanted = job()
        wanted["spec"]["config"]["trainer"]["learning_rate"] = rate
        return wanted if source is None else {"spec": {**wanted["spec"], "resumeFrom": source}}

    first = FolderStorage(tmp_path / "first")
    start(first, wanted=with_rate(0.1, None))
    write(first, snapshot(5))
    second = FolderStorage(tmp_path / "second")
    start(second, wanted=with_rate(0.2, "first"), source=SourceCheckpoint(first))
    write(second, snapshot(9))
    found = start(storage, wanted=with_rate(0.3, "second"), source=SourceCheckpoint(second)).start_from
    assert found is not None
    assert found.position.step == 9


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("out/a", None),
        ("out/a/model", None),
        ("out/a/checkpoints/", ("out/a", None)),
        ("checkpoints", (".", None)),
        ("s3://runs/a/checkpoints/0000001200-3", ("s3://runs/a", CheckpointName(1200, 3))),
    ],
)
def test_the_location_of_a_checkpoint(location: str, expected: object) -> None:
    assert run_and_checkpoint(location) == expected


def test_a_name_that_no_checkpoint_has() -> None:
    with pytest.raises(Mistakes, match=r"^resumeFrom: 'last' is no name of a checkpoint, such as 0000001200-1$"):
        run_and_checkpoint("out/a/checkpoints/last")


def in_format_one(storage: FolderStorage) -> FolderStorage:
    """A run as the versions before outputs had a start wrote it."""
    start(storage)
    storage.write(layout.start(1), [json.dumps({**written_start(storage, 1), "format": 1}).encode()])
    return storage


@pytest.mark.parametrize("how", [ExistingRun.RESUME, ExistingRun.CONTINUE])
def test_a_run_of_another_format_is_refused_in_one_line(storage: FolderStorage, how: ExistingRun) -> None:
    in_format_one(storage)
    with pytest.raises(Mistakes) as refused:
        look(storage, JOB, how)
    assert str(refused.value) == (
        f"{storage.location} holds a run of format 1, this version reads 4. "
        "Use the version that wrote it, or train anew into another --output."
    )
    assert start(storage, ExistingRun.OVERWRITE).fresh


def test_a_run_does_not_start_from_one_of_another_format(storage: FolderStorage, tmp_path: Path) -> None:
    other = in_format_one(FolderStorage(tmp_path / "other"))
    with pytest.raises(Mistakes, match=r"^resumeFrom: .*other holds a run of format 1, this version reads 4\."):
        start(storage, source=SourceCheckpoint(other))


def test_a_place_that_cannot_be_written_is_known_at_once(tmp_path: Path) -> None:
    (tmp_path / "out").write_bytes(b"mine")
    with pytest.raises(EnvironmentFailure, match="out: a file is where a folder is needed"):
        look(FolderStorage(tmp_path / "out"), JOB, ExistingRun.NEW)


def test_looking_writes_nothing(storage: FolderStorage) -> None:
    assert look(storage, JOB, ExistingRun.NEW) is None
    assert not storage.root.exists()


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
