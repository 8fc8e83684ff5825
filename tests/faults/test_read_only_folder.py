"""An output that cannot be written is detected before the data are read."""

from __future__ import annotations

import pytest

ENVIRONMENT = 3


@pytest.fixture(params=["read-only disk", "below a file", "the system's"])
def closed(request, small_disk, tmp_path):
    """A path at which even root cannot create a folder, and the possible reasons."""
    if request.param == "below a file":
        (tmp_path / "file").write_text("")
        return tmp_path / "file/run", ["a file is where a folder is needed"]
    if request.param == "the system's":
        return "/sys/trainwright/run", ["no permission", "the file system is read-only"]
    folder, not_mounted = small_disk(1 << 20, "ro")
    if not_mounted:
        folder.chmod(0o555)
    return folder / "run", ["no permission", "the file system is read-only"]


def test_it_ends_at_once(place, closed, lines):
    path, reasons = closed
    run = place(run=path)
    child = run.start()
    assert child.wait() == ENVIRONMENT
    [line] = lines(child.errors)
    assert line.startswith(f"{path}")
    assert line.endswith(tuple(reasons))
    assert not (run.job.parent / "cache").exists()


def test_a_cache_that_cannot_be_written_names_its_option(place, lines):
    run = place(lambda spec: spec["backend"].update(cache_dir="/sys/trainwright"))
    child = run.start()
    assert child.wait() == ENVIRONMENT
    [line] = lines(child.errors)
    assert "backend.cache_dir" in line
    assert not run.run.exists()
