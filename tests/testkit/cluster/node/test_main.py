"""A user other than root gets an error before anything is created."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from testkit.cluster.node.__main__ import main

pytestmark = pytest.mark.slow  # it tests the testkit, which every other test uses


@pytest.mark.parametrize("what", ["up", "down"])
def test_without_root_one_line_says_so(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["node", what, f"--root={tmp_path / 'cluster'}"])
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert main() == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "needs root" in line
    assert "KUBECONFIG and IMAGES" in line
    assert not any(tmp_path.iterdir())
