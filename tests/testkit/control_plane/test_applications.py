"""The Git repository that Applications of Argo CD follow."""

from __future__ import annotations

import subprocess
from pathlib import Path

from testkit.control_plane.applications import Repository


def test_a_commit_writes_and_removes_files(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "made")
    repository.commit({"jobs/a.yaml": "a", "jobs/b.yaml": "b"})
    repository.commit({"jobs/a.yaml": None, "jobs/b.yaml": "c"})
    seen = tmp_path / "seen"
    subprocess.run(["git", "clone", "--quiet", repository.url, str(seen)], check=True, capture_output=True)
    assert [path.name for path in (seen / "jobs").iterdir()] == ["b.yaml"]
    assert (seen / "jobs" / "b.yaml").read_text() == "c"
