"""A copy of the examples with their data, and a way to run Python in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FLIGHTS = 3_000
RunPython = Callable[..., str]


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that looks like the checkout's root, so that no cache and no run is left in the checkout itself."""
    root = tmp_path_factory.mktemp("project")
    shutil.copytree(EXAMPLES, root / "examples", ignore=shutil.ignore_patterns("__pycache__", ".trainwright_cache"))
    return root


@pytest.fixture(scope="session")
def run_python(project: Path) -> RunPython:
    """Runs Python with the given arguments as a user in the checkout's root would, and answers what it printed."""
    # The data are so small that a second thread would only wait.
    # `make test` is a `uv run`, but the user is not: Ray would then pack the folder and lose the script's own modules.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0"}

    def run(*arguments: str) -> str:
        command = [sys.executable, *arguments]
        done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    return run


@pytest.fixture(scope="session")
def flights(project: Path, run_python: RunPython) -> Path:
    """The flights example's data, with few rows, at the place where its job looks for them."""
    run_python("examples/flights/make_data.py", "--rows", str(FLIGHTS), "--output", "build/flights/flights.parquet")
    return project / "build" / "flights" / "flights.parquet"


@pytest.fixture(scope="session")
def docstrings(project: Path, run_python: RunPython) -> Path:
    """The text example's data, with few rows, at the place where its job looks for them."""
    run_python("examples/docstrings/make_data.py", "--most", "60", "--output", "build/docstrings/docstrings.parquet")
    return project / "build" / "docstrings" / "docstrings.parquet"


@pytest.fixture(scope="session")
def lines(project: Path, run_python: RunPython) -> Path:
    """The data of the example of a tagger, with few lines, at the place where its job looks for them."""
    run_python("examples/tagger/make_data.py", "--most", "60", "--output", "build/tagger/lines.parquet")
    return project / "build" / "tagger" / "lines.parquet"


@pytest.fixture(scope="session")
def digits(project: Path, run_python: RunPython) -> Path:
    """The image example's data, with few images, at the place where its job looks for them."""
    run_python("examples/images/make_data.py", "--rows", "400", "--output", "build/images")
    return project / "build" / "images" / "digits.csv"
