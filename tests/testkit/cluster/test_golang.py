"""The pins are those of go.mod, and without a go that works one line says so."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from testkit.cluster import golang
from testkit.cluster.errors import ClusterError

pytestmark = pytest.mark.slow  # it tests the testkit, which every other test uses

GO_MOD = """\
module some

require example.org/alone v1.2.3

require (
\texample.org/first v0.1.0
\texample.org/first/inner v0.9.0 // indirect
)
"""


@pytest.fixture
def module(tmp_path: Path) -> Path:
    (tmp_path / "go.mod").write_text(GO_MOD)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "version"),
    [("example.org/alone", "v1.2.3"), ("example.org/first", "v0.1.0"), ("example.org/first/inner", "v0.9.0")],
)
def test_a_pin_is_read_from_go_mod(module: Path, name: str, version: str) -> None:
    assert golang.pin(module, name) == version


def test_what_is_not_pinned_is_refused(module: Path) -> None:
    with pytest.raises(ClusterError, match=r"does not pin example\.org/inner"):
        golang.pin(module, "example.org/inner")


@pytest.fixture
def fake(tmp_path: Path) -> Callable[[str, str], str]:
    """A folder with a go of that name, which is a shell script."""

    def made(folder: str, script: str) -> str:
        program = tmp_path / folder / "go"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        return str(program.parent)

    return made


def test_the_machines_own_go_is_taken_first(
    module: Path, fake: Callable[[str, str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    venv, own = fake("venv", "echo go1.99"), fake("own", "echo go1.30")
    monkeypatch.setattr(golang, "VENV", venv)
    monkeypatch.setenv("PATH", f"{venv}:{own}:/bin")  # as `uv run` has it
    assert golang.version(module) == "go1.30"


@pytest.mark.parametrize("own", [None, "echo 'go.mod requires go >= 1.24.0' >&2; exit 1"])
def test_where_there_is_none_or_one_that_is_too_old_the_environments_own_builds(
    module: Path, fake: Callable[[str, str], str], monkeypatch: pytest.MonkeyPatch, own: str | None
) -> None:
    monkeypatch.setattr(golang, "VENV", fake("venv", "echo go1.99"))
    monkeypatch.setenv("PATH", "/bin" if own is None else f"{fake('own', own)}:/bin")
    assert golang.version(module) == "go1.99"


def test_without_go_one_line_says_what_to_install(module: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(golang, "VENV", str(module))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ClusterError, match=r"^go is not installed.*https://go.dev/dl.*$"):
        golang.version(module)


def test_goes_that_are_too_old_say_so_themselves(
    module: Path, fake: Callable[[str, str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    says = "go: go.mod requires go >= 1.24.0 (running go 1.20; GOTOOLCHAIN=local)"
    monkeypatch.setattr(golang, "VENV", str(module))
    own = fake("own", f"echo '{says}' >&2; exit 1")
    monkeypatch.setenv("PATH", f"{own}:/bin")
    with pytest.raises(ClusterError, match=r"requires go >= 1.24.0 \(running go 1.20"):
        golang.version(module)


@pytest.mark.slow
def test_the_environments_own_go_builds_a_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr(golang, "_folders_of_the_machine", list)
    made = tmp_path / "pause"
    golang.build(Path(golang.__file__).parent / "pause", ".", "-ldflags=-s -w", made)
    with subprocess.Popen([made]) as running:
        running.terminate()
        assert running.wait() in (0, -signal.SIGTERM)
