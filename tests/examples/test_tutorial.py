"""The commands of docs/tutorial.md: those of the laptop are run, in their order, those of a cluster elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TUTORIAL = (ROOT / "docs/tutorial.md").read_text()
LAPTOP, CLUSTER = TUTORIAL.split("\n## Run on a cluster\n")
SET_UP = ("make setup", "source .venv/bin/activate")
"""The command that has made the environment of this test."""
_BLOCKS = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def like(shown: str) -> re.Pattern[str]:
    """Lines of this shape: their numbers, times and hashes may be others, and … stands for anything."""
    escaped = re.sub(r"\d[\d,.:]*", "0", shown.strip()).replace("b0b…", "…")
    parts = [re.sub(r"0(\\ s)?", r"[\\d,.:]+( s)?", re.escape(part)) for part in escaped.split("…")]
    return re.compile(".*".join(parts), re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the examples of the repository."""
    made = tmp_path_factory.mktemp("tutorial")
    (made / "examples").symlink_to(ROOT / "examples")
    return made


def run(command: list[str], folder: Path) -> tuple[int, str]:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    ended = subprocess.run(
        command, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=600, check=False
    )
    return ended.returncode, ended.stdout + ended.stderr


def test_every_command_of_the_laptop_does_what_is_shown(folder: Path) -> None:
    output = ""
    for kind, text in _BLOCKS.findall(LAPTOP):
        if kind == "yaml":
            (folder / "temperature.yaml").write_text(text)
        elif kind == "python":
            code, output = run([sys.executable, "-c", text], folder)
            assert code == 0, output
            assert "temperature_predictions" in output
        elif kind == "text":
            assert like(text).search(output), output
        else:
            commands = [line for line in text.splitlines() if line not in SET_UP]
            for command in commands:
                code, output = run(["bash", "-c", command], folder)
                assert code == (2 if "wrong.yaml" in command.split()[-1:] and "sed" not in command else 0), output
    made = [*(folder / "out/temperature/export/onnx").iterdir()]
    assert {path.name for path in made} == {"model.onnx", "transform.json"}
    assert (folder / "predictions.csv").read_text().count("\n") == 1201


def test_the_commands_of_the_cluster_are_those_of_the_readme() -> None:
    """`e2e/full_cluster/test_readme.py` runs them there, exactly as they are written."""
    readme = (ROOT / "README.md").read_text().replace("\n$ ", "\n").splitlines()
    commands = [line for _, text in _BLOCKS.findall(CLUSTER) for line in text.splitlines()]
    assert commands
    for command in commands:
        assert any(line.partition("  ")[0] == command for line in readme), command
