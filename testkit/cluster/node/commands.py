"""Runs the machine's commands as root. Their error output becomes the error."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from testkit.cluster.errors import ClusterError
from testkit.cluster.images import command


def run(*words: str | Path, environment: Mapping[str, str] | None = None) -> str:
    """Return the output of the command."""
    return command.run([str(word) for word in words], environment)


def succeeds(*words: str | Path) -> bool:
    try:
        run(*words)
    except ClusterError:
        return False
    return True
