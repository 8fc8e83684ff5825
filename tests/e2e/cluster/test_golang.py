"""The pins are those of go.mod, and without a go that works one line says so."""

from __future__ import annotations

from pathlib import Path

import pytest
from e2e.cluster import golang
from e2e.cluster.errors import ClusterError

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


def test_without_go_one_line_says_what_to_install(module: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ClusterError, match=r"^go is not installed.*https://go.dev/dl.*$"):
        golang.version(module)


def test_a_go_that_is_too_old_says_so_itself(module: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    says = "go: go.mod requires go >= 1.24.0 (running go 1.20; GOTOOLCHAIN=local)"
    (module / "go").write_text(f"#!/bin/sh\necho '{says}' >&2\nexit 1\n")
    (module / "go").chmod(0o755)
    monkeypatch.setenv("PATH", f"{module}:/bin")
    with pytest.raises(ClusterError, match=r"requires go >= 1.24.0 \(running go 1.20"):
        golang.version(module)
