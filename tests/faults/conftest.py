"""Real processes, signals and files. One `driver.py` per session forks the processes; a `Place` is one run."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import random
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from safetensors.numpy import load_file

from trainwright_trainer.rundir.layout import CheckpointName

LONGEST = 120.0
ENVIRONMENT = {
    "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    "HOME": os.environ.get("HOME", "/"),
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
}


class Child:
    """A process that `Driver` has started. Tests wait for its end with a pidfd and never sleep."""

    def __init__(self, driver: Driver, pid: int, output: Path, errors: Path) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._driver, self._output, self._errors = driver, output, errors
        self._descriptor = os.pidfd_open(pid)
        self._end = select.poll()
        self._end.register(self._descriptor, select.POLLIN)

    def has_open(self, file: Path) -> bool:
        """True if the process has the file open."""
        found = []
        for descriptor in Path(f"/proc/{self.pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # closed in the meantime
                found.append(descriptor.readlink())
        return file in found

    def poll(self, seconds: float = 0) -> int | None:
        """The exit status, or None if the process still runs after `seconds`."""
        if self.returncode is None and self._end.poll(seconds * 1000):
            self.returncode = self._driver.order({"wait": self.pid})
            os.close(self._descriptor)
        return self.returncode

    def wait(self) -> int:
        code = self.poll(LONGEST)
        assert code is not None, f"still running after {LONGEST} s"
        return code

    def until(self, happened: Callable[[], bool]) -> None:
        """Wait until `happened()` is true. Fails if the process ends first."""
        while not happened():
            assert self.poll(0.001) is None, f"ended with {self.returncode} first: {self.errors}{self.output}"

    def send(self, number: signal.Signals) -> None:
        assert self.poll() is None, f"ended with {self.returncode} before the signal: {self.errors}{self.output}"
        os.kill(self.pid, number)

    def kill(self) -> None:
        """Send SIGKILL. Checks that the process runs before, and that the signal ended it."""
        self.send(signal.SIGKILL)
        assert self.wait() == -signal.SIGKILL

    @property
    def output(self) -> str:
        return self._output.read_text()

    @property
    def errors(self) -> str:
        return self._errors.read_text()


class Driver:
    """The client of `driver.py`."""

    def __init__(self) -> None:
        self.children: list[Child] = []
        program = [sys.executable, str(Path(__file__).with_name("driver.py"))]
        self._process = subprocess.Popen(
            program,
            env=ENVIRONMENT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._answer()

    def order(self, order: Mapping[str, Any]) -> int:
        assert self._process.stdin is not None
        print(json.dumps(order), file=self._process.stdin, flush=True)
        return self._answer()

    def start(
        self,
        folder: Path,
        *arguments: str | Path,
        environment: Mapping[str, str] | None = None,
        limits: Mapping[str, int] | None = None,
    ) -> Child:
        """Start `trainwright` in `folder`. `limits`: sizes in bytes, by the names of `resource`."""
        output, errors = (folder / f"{len(self.children)}.{name}" for name in ("out", "err"))
        for path in (output, errors):
            path.touch()
        pid = self.order(
            {
                "arguments": [str(argument) for argument in arguments],
                "environment": {**ENVIRONMENT, **(environment or {})},
                "folder": str(folder),
                "output": str(output),
                "errors": str(errors),
                "limits": dict(limits or {}),
            }
        )
        self.children.append(Child(self, pid, output, errors))
        return self.children[-1]

    def close(self) -> None:
        for child in self.children:
            if child.poll() is None:
                child.kill()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(LONGEST)
        self._process.stdout.close()

    def _answer(self) -> int:
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())


@dataclass
class Place:
    """One run: its job, its folder, its processes and its files, which are read without the code of the trainer."""

    driver: Driver
    job: Path
    run: Path
    children: list[Child] = field(default_factory=list)
    output: str | None = None
    """The value of `--output`. None: `run`."""
    around: Mapping[str, str] = field(default_factory=dict)
    """Additional environment variables of the processes."""

    def start(self, *flags: str, limits: Mapping[str, int] | None = None) -> Child:
        """Start `trainwright train`. Each process has its own row log, as a kill may cut the log's last line."""
        environment = {**self.around, "TRAINWRIGHT_ROW_LOG": str(self._log(len(self.children)))}
        arguments = ("train", self.job.name, "--output", self.output or self.run, *flags)
        child = self.driver.start(self.job.parent, *arguments, environment=environment, limits=limits)
        self.children.append(child)
        return child

    def go_on(self) -> Child:
        """Start with `--resume`, or without it if no attempt has begun."""
        return self.start(*(["--resume"] if self.attempts() else []))

    def finish(self, *flags: str) -> Child:
        child = self.start(*flags)
        assert child.wait() == 0, child.errors + child.output
        return child

    def attempts(self) -> list[dict[str, Any]]:
        """The content of every start.json, by attempt."""
        return [json.loads(path.read_text()) for path in sorted(self.run.glob("attempts/*/start.json"), key=_number)]

    def outcome(self, attempt: int) -> dict[str, Any] | None:
        path = self.run / f"attempts/{attempt}/outcome.json"
        return json.loads(path.read_text()) if path.exists() else None

    def weights(self) -> dict[str, bytes]:
        """The bytes of the model's tensors, by name."""
        loaded = load_file(self.run / "model/weights.safetensors")
        return {name: values.tobytes() for name, values in loaded.items()}

    def rounds(self) -> list[dict[str, Any]]:
        """The rounds in metrics.json, without the values that differ between equal runs."""
        changing = {"seconds", "rows_per_second", "attempt", "ranks", "straggler"}
        rounds = json.loads((self.run / "metrics.json").read_text())["rounds"]
        return [{key: value for key, value in round_.items() if key not in changing} for round_ in rounds]

    def updates(self, child: Child) -> list[dict[str, Any]]:
        """The row log of one process: attempt, step, rows. A last line that a kill has cut is ignored."""
        path = self._log(self.children.index(child))
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def joined(self) -> list[list[int]]:
        """The rows of every update of the run: the log of each attempt, cut at the start of the next attempt."""
        rows: list[list[int]] = []
        resumed_at = {start["attempt"]: _step(start["checkpoint"]) for start in self.attempts()}
        for child in self.children:
            for update in self.updates(child):
                if update["attempt"] in resumed_at:
                    del rows[resumed_at.pop(update["attempt"]) :]
                assert update["step"] == len(rows) + 1
                rows.append(update["rows"])
        return rows

    def checkpoints(self) -> list[Path]:
        """The complete checkpoints, oldest first."""
        return [folder for folder in self._folders() if (folder / "manifest.json").exists()]

    def being_written(self, attempt: int) -> list[Path]:
        """Checkpoint folders that an attempt is writing: without manifest, and newer than its complete ones.

        Older folders without manifest are partial deletions.
        """
        mine = [folder for folder in self._folders() if _name(folder).attempt == attempt]
        complete = [folder for folder in mine if (folder / "manifest.json").exists()]
        return [folder for folder in mine if folder.name > max((one.name for one in complete), default="")]

    def _log(self, process: int) -> Path:
        return self.job.with_name(f"{self.run.name}-{process}.rows")

    def _folders(self) -> list[Path]:
        return sorted(self.run.glob("checkpoints/*"), key=_name)


def _number(path: Path) -> int:
    return int(path.parent.name)


def _name(folder: Path) -> CheckpointName:
    name = CheckpointName.parse(folder.name)
    assert name is not None
    return name


def _step(checkpoint: str | None) -> int:
    return 0 if checkpoint is None else int(checkpoint.partition("-")[0])


def write_rows(path: Path, rows: int) -> None:
    draw = random.Random(1)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["size", "open", "kind", "late"])
        for _ in range(rows):
            size, kind = draw.gauss(0, 1), draw.choice("abcd")
            late = size + (kind == "a") + draw.gauss(0, 1) > 0.5
            writer.writerow([f"{size:.4f}", draw.choice(["yes", "no"]), kind, ["no", "yes"][late]])


def hard_job() -> dict[str, Any]:
    """A job with all parts that have state: dropout, batch norm, plateau, mid-epoch rounds, timed checkpoints.

    With Adam's moments and the best weights a checkpoint has 4 MB, so that a kill can hit its write.
    """
    return {
        "apiVersion": "trainwright.dev/v1alpha1",
        "kind": "TrainingJob",
        "metadata": {"name": "hard"},
        "spec": {
            "dataset": "rows.csv",
            "config": {
                "input_features": [
                    {"name": "size", "type": "number"},
                    {"name": "open", "type": "binary"},
                    {"name": "kind", "type": "category"},
                ],
                "combiner": {
                    "type": "concat",
                    "num_fc_layers": 2,
                    "output_size": 512,
                    "norm": "batch",
                    "dropout": 0.2,
                },
                "output_features": [{"name": "late", "type": "binary"}],
                "trainer": {
                    "batch_size": 32,
                    "train_steps": 400,
                    "learning_rate": 0.003,
                    "early_stop": -1,
                    "steps_per_checkpoint": 11,
                    "learning_rate_scheduler": {
                        "reduce_on_plateau": 3,
                        "reduce_on_plateau_patience": 4,
                        "reduce_eval_split": "validation",
                    },
                },
            },
            "backend": {"cache_dir": "cache"},
            "checkpoint": {"numToKeep": 2, "everySeconds": 0.04},
        },
    }


@pytest.fixture(scope="session")
def driver() -> Iterator[Driver]:
    driver = Driver()
    yield driver
    driver.close()


@pytest.fixture
def place(driver: Driver, tmp_path: Path) -> Callable[..., Place]:
    """Create a job and its `Place`. `change(spec)` may edit the job; `run`: its output in the folder of the test."""

    def make(change: Callable[[dict[str, Any]], object] | None = None, run: Path | str = "run") -> Place:
        return written(driver, tmp_path, change, run)

    return make


def written(
    driver: Driver, folder: Path, change: Callable[[dict[str, Any]], object] | None = None, run: Path | str = "run"
) -> Place:
    job = hard_job()
    if change is not None:
        change(job["spec"])
    if not (folder / "rows.csv").exists():
        write_rows(folder / "rows.csv", 1000)
    YAML(typ="safe").dump(job, folder / "job.yaml")
    return Place(driver, folder / "job.yaml", folder / run)


@pytest.fixture(scope="session")
def undisturbed(driver: Driver, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The hard job, completed without a fault."""
    place = written(driver, tmp_path_factory.mktemp("undisturbed"))
    place.finish()
    return place


@pytest.fixture
def assert_same(undisturbed: Place) -> Callable[[Place], None]:
    """Check that a run equals the undisturbed one: the rows of every update, all scores, all bits of the weights."""

    def check(place: Place) -> None:
        assert place.joined() == undisturbed.joined()
        assert place.rounds() == undisturbed.rounds()
        assert place.weights() == undisturbed.weights()

    return check


@pytest.fixture(scope="session")
def halfway(driver: Driver, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The hard job, stopped twice: two attempts, each with checkpoints."""
    place = written(driver, tmp_path_factory.mktemp("halfway"), lambda spec: spec["checkpoint"].update(numToKeep=4))
    for _ in range(2):
        child = place.go_on()
        child.until(lambda child=child: len(place.updates(child)) > 60)
        child.send(signal.SIGTERM)
        assert child.wait() == 75
    return place


@pytest.fixture
def halted(halfway: Place, tmp_path: Path) -> Place:
    """A copy of the stopped run that a test may damage."""
    shutil.copytree(halfway.job.parent, tmp_path, dirs_exist_ok=True)
    return Place(halfway.driver, tmp_path / "job.yaml", tmp_path / "run", list(halfway.children))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[int], tuple[Path, dict[str, int]]]]:
    """Create a disk of `size` bytes, or return a file size limit for the process if mounting is not allowed."""
    folders: list[Path] = []

    def make(size: int, mode: str = "rw") -> tuple[Path, dict[str, int]]:
        folder = tmp_path / f"disk-{len(folders)}"
        folder.mkdir()
        if not _mounted(folder, size, mode):
            return folder, {"FSIZE": size}
        folders.append(folder)
        return folder, {}

    yield make
    for folder in folders:
        subprocess.run(["umount", folder], check=True)


def _mounted(folder: Path, size: int, mode: str) -> bool:
    options = f"size={size},{mode}"
    mount = shutil.which("mount")
    command = [mount or "", "-t", "tmpfs", "-o", options, "none", str(folder)]
    return mount is not None and subprocess.run(command, capture_output=True).returncode == 0


@pytest.fixture
def environment() -> Mapping[str, str]:
    """The environment of the processes in these tests."""
    return ENVIRONMENT


@pytest.fixture
def lines() -> Callable[[str], Sequence[str]]:
    """The lines of a text that are not blank."""
    return lambda text: [line for line in text.splitlines() if line.strip()]
