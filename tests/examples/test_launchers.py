"""Each script of examples/launchers has the losses of one process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SCRIPTS = sorted((EXAMPLES / "launchers").glob("*.sh"))


def losses(run: Path) -> list[float]:
    rounds = json.loads((run / "metrics.json").read_text())["rounds"]
    return [scores["combined"]["loss"] for one in rounds for scores in one["scores"].values()]


@pytest.fixture(scope="session")
def alone(project: Path, run_python: Callable[..., str]) -> list[float]:
    """The losses of the same training in one process."""
    run_python("-m", "trainwright_trainer", "train", "examples/small/flights.yaml", "--output", "out/one-process")
    return losses(project / "out/one-process")


@pytest.mark.parametrize(
    "script",
    [pytest.param(one, marks=pytest.mark.slow if one.stem == "horovodrun" else ()) for one in SCRIPTS],
    ids=lambda path: path.stem,
)  # launchers/horovod.yaml runs in test_examples.py
def test_has_the_curve_of_one_process(script: Path, project: Path, alone: list[float]) -> None:
    if shutil.which(script.stem) is None and script.stem == "mpirun":
        pytest.skip("this machine has no Open MPI")
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    command = [project / "examples/launchers" / script.name]
    environment = {**os.environ, **allowed, "PATH": path}
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    assert f"{script.stem} has started 2 processes: strategy " in done.stdout
    assert losses(project / "out" / script.stem) == pytest.approx(alone, rel=1e-9, abs=1e-9)
