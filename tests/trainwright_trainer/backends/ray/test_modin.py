"""Complete runs with processor modin: it fills the cache before the workers start. They train as one process does."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

SECONDS = 240
NEEDS_MODIN = pytest.mark.skipif(
    not find_spec("modin"), reason="processor modin has its own environment: make test-modin"
)


def on_ray(processor: str) -> Any:
    def change(job: dict[str, Any]) -> None:
        job["backend"] = {
            "type": "ray",
            "processor": {"type": processor},
            "cache_dir": f"{processor}-cache",
            "trainer": {"strategy": "ddp", "num_workers": 2},
        }
        job["config"]["trainer"]["precision"] = "float64"

    return change


def program(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "trainwright_trainer", *arguments]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def entries(cache: Path) -> Mapping[str, bytes]:
    """The columns and statistics of a cache."""
    kinds = ("features", "statistics")
    return {
        str(path.relative_to(cache)): path.read_bytes()
        for kind in kinds
        for path in (cache / kind).rglob("*")
        if path.is_file()
    }


@NEEDS_MODIN
def test_two_workers_train_on_what_modin_has_prepared(workplace):
    """The workers hold all CPUs, so a task that starts after them would wait for ever."""
    workplace.data(*workplace.folder.joinpath("data.csv").read_text().splitlines()[:-1], "0.1,yes,,no")
    job = workplace.job(on_ray("modin"))
    lines = program(workplace.folder, "train", job, "--output", "ray").splitlines()
    filled = next(number for number, line in enumerate(lines) if " written" in line)
    assert filled < lines.index("starting 2 workers")
    assert sum("missing cells" in line for line in lines) <= 1
    (workplace.folder / "modin-cache").rename(workplace.folder / "of-modin")
    program(workplace.folder, "train", job, "--backend", "local", "--output", "local")
    assert entries(workplace.folder / "of-modin") == entries(workplace.folder / "modin-cache") != {}
    ray, local = (json.loads((workplace.folder / name / "metrics.json").read_text()) for name in ("ray", "local"))
    assert ray["end"]["test"]["late"] == pytest.approx(local["end"]["test"]["late"], rel=1e-9)


@NEEDS_MODIN
def test_preprocess_fills_the_same_cache_as_one_process(workplace):
    program(workplace.folder, "preprocess", workplace.job(on_ray("modin")))
    program(workplace.folder, "preprocess", workplace.job(lambda job: job.update(backend={"cache_dir": "here"})))
    assert entries(workplace.folder / "modin-cache") == entries(workplace.folder / "here") != {}


@pytest.mark.skipif(find_spec("modin") is not None, reason="modin is installed here")
@pytest.mark.parametrize("command", ["train", "preprocess"])
def test_without_modin_one_line_names_the_command_that_installs_it(workplace, command):
    line = "modin is not installed here. Install it with: pip install 'trainwright[trainer,modin]'"
    message = workplace.refused(command, workplace.job(on_ray("modin")))
    assert message.endswith(f"backend.processor.type: {line}")
    assert "\n" not in message
