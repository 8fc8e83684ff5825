"""Whatever stands on the command line: an answer with a documented exit code, never an internal error.

All runs in this process and in one folder, so that a command meets what others have left there. Training is real, of
forty rows; Ray has tests of its own.
"""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path

import pytest

from trainwright_trainer.errors import EnvironmentFailure, ExitCode
from trainwright_trainer.tasks import run

from ..conftest import JOB, table
from .command_lines import command_lines

CODES = {code for code in ExitCode if code is not ExitCode.CRASH}


def lay_out(folder: Path) -> None:
    """The files that command lines name. What an earlier command may have overwritten is written again."""
    rows = table(40)
    texts = {
        "job.yaml": json.dumps(JOB),
        "model.yaml": json.dumps(JOB["config"]),
        "wrong.yaml": json.dumps({**copy.deepcopy(dict(JOB)), "backend": {"type": "locl"}, "seed": "x"}),
        "empty.yaml": "",
        "broken.yaml": "{a: 1",
        "list.yaml": "- a",
        "data.csv": "\n".join(rows) + "\n",
        "other.csv": "\n".join(rows[:1] + rows[20:]) + "\n",
        "empty.csv": "",
        "header.csv": rows[0] + "\n",
        "fake.parquet": "PAR1",
        "data.xlsx": "x",
        "Ж \n💥.yaml": json.dumps(JOB),
    }
    for name, text in texts.items():
        place = folder / name
        if place.is_dir():
            shutil.rmtree(place)
        place.write_text(text)
    for name in ("binary.yaml", "binary.csv", "\udcff.yaml", "\udcff.csv"):
        (folder / name).write_bytes(b"\x00\xff" * 10)
    (folder / "folder").mkdir(exist_ok=True)
    for name, target in (("dangling.yaml", "nowhere"), ("ring.yaml", "ring.yaml")):
        if not (folder / name).is_symlink():
            (folder / name).symlink_to(target)


@pytest.fixture
def anywhere(workplace, monkeypatch):
    """Ray is away: to start it for each of these commands would take hours."""

    def away(*_):
        raise EnvironmentFailure("Ray cannot be started")

    monkeypatch.setitem(run.TRAINING_BACKENDS, "ray", away)
    monkeypatch.delenv("TRAINWRIGHT_ATTEMPT", raising=False)
    return workplace


def check(workplace, seed: int, count: int) -> None:
    """A part of the commands has to come to its end, for what is refused at once finds little."""
    wrong, done = [], 0
    for arguments in command_lines(seed, count):
        lay_out(workplace.folder)
        ended = workplace.run(*arguments)
        done += ended.code == 0 and "--help" not in arguments
        message = ended.out + ended.err
        bad = ended.code not in CODES or "internal error" in message or "Traceback" in message
        if bad or (ended.code and not ended.err.strip()):
            wrong.append((arguments, ended))
    assert not wrong, "\n\n".join(f"{arguments}\n{ended.code} {ended.err}" for arguments, ended in wrong)
    assert done > count / 20


@pytest.mark.parametrize("seed", range(3))
def test_no_command_line_finds_an_internal_error(anywhere, seed):
    check(anywhere, seed, 100)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 110))
def test_no_command_line_of_two_thousand_finds_an_internal_error(anywhere, seed):
    check(anywhere, seed, 200)


def test_the_same_seed_gives_the_same_command_lines():
    assert list(command_lines(1, 50)) == list(command_lines(1, 50)) != list(command_lines(2, 50))


def test_every_command_and_every_option_is_drawn():
    words = {word.partition("=")[0] for line in command_lines(0, 2000) for word in line}
    commands = {"train", "experiment", "evaluate", "test", "predict", "preprocess", "run", "validate"}
    commands |= {"cache", "ls", "verify", "prune"}
    options = {"--config", "-c", "--dataset", "--output", "--backend", "--seed", "--resume", "--overwrite", "--model"}
    assert commands | options | {"--json", "--help", "--version", "--older-than", "--max-bytes", "--dry-run"} <= words
