"""The programs are built once for each set of pins, whole or not at all. A script plays go here."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from testkit.cluster import binaries
from testkit.cluster.errors import ClusterError

pytestmark = pytest.mark.slow  # it tests the testkit, which every other test uses

GO = """\
#!/bin/sh
case "$1" in
env) echo "$GO_VERSION" ;;
build)
    echo built >> "$BUILDS"
    [ -z "$BROKEN" ] || { echo "main.go:1: broken" >&2; exit 1; }
    while [ "$1" != "-o" ]; do shift; done
    echo program > "$2" ;;
esac
"""


@pytest.fixture
def builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that gets one line for each build."""
    (tmp_path / "go").write_text(GO)
    (tmp_path / "go").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("TRAINWRIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("GO_VERSION", "go1.26.8")
    monkeypatch.setenv("BUILDS", str(tmp_path / "builds"))
    return tmp_path / "builds"


def test_all_names_lead_to_one_program(builds: Path) -> None:
    folder = binaries.programs()
    assert {name: (folder / name).read_text() for name in binaries.NAMES} == dict.fromkeys(binaries.NAMES, "program\n")
    assert builds.read_text() == "built\n"


def test_all_who_ask_at_once_share_one_build(builds: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        folders = set(pool.map(lambda _: binaries.programs(), range(4)))
    assert len(folders) == 1
    assert builds.read_text() == "built\n"


def test_another_go_builds_again(builds: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = binaries.programs()
    monkeypatch.setenv("GO_VERSION", "go1.27.0")
    assert binaries.programs() != first
    assert builds.read_text() == "built\nbuilt\n"


def test_a_build_that_fails_leaves_nothing(builds: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROKEN", "yes")
    with pytest.raises(ClusterError, match=r"main\.go:1: broken"):
        binaries.programs()
    assert [path.name for path in (builds.parent / "cache" / "kubernetes").iterdir()] == ["lock"]


def test_the_time_is_printed(builds: Path, capsys: pytest.CaptureFixture[str]) -> None:
    binaries.programs()
    assert builds.exists()
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("building Kubernetes v1.34.4 from source")
    assert lines[1].startswith("built Kubernetes v1.34.4 in ")
