from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ALL_OPEN = "0<&0"
PROGRAM = """
import sys
from trainwright_trainer.runtime.standard_streams import open_closed_streams
open_closed_streams()
print("on stdout")
print("on stderr", file=sys.stderr)
sys.stdin.isatty()
with open(sys.argv[1], "w") as file:
    file.write(str(file.fileno()))
"""


@pytest.mark.parametrize("closed", [ALL_OPEN, "<&-", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_a_file_never_takes_the_place_of_a_stream(tmp_path: Path, closed: str) -> None:
    command = ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-c", PROGRAM, str(tmp_path / "file")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended
    assert int((tmp_path / "file").read_text()) > 2
    assert (ended.stdout == "on stdout\n") == (" >&-" not in f" {closed}")
    assert (ended.stderr == "on stderr\n") == ("2>&-" not in closed)


def test_a_job_is_trained_without_any_stream(tmp_path: Path) -> None:
    rows = "\n".join(f"{number},{number % 2}" for number in range(40))
    (tmp_path / "rows.csv").write_text(f"size,late\n{rows}\n")
    job = {
        "dataset": "rows.csv",
        "config": {
            "input_features": [{"name": "size", "type": "number"}],
            "output_features": [{"name": "late", "type": "binary"}],
            "trainer": {"epochs": 1, "batch_size": 8},
        },
    }
    (tmp_path / "late.yaml").write_text(repr(job))
    program = os.path.join(os.path.dirname(sys.executable), "trainwright")
    command = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", program, "train", "late.yaml", "--output", "out"]
    assert subprocess.run(command, cwd=tmp_path, check=False).returncode == 0
    assert (tmp_path / "out" / "report.html").is_file()
