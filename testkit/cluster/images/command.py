"""Runs programs to their end, and prints each step of a build with its duration on stderr."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from testkit.cluster.errors import ClusterError

LAST_LINES = 30


def run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    """Return the standard output. Raises with the last lines of the output if the program fails or does not exist."""
    try:
        ended = subprocess.run(
            command,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except FileNotFoundError:
        raise ClusterError(f"{command[0]} is not installed") from None
    if ended.returncode != 0:
        raise ClusterError(f"{' '.join(command)} failed:\n{_end(ended.stdout + ended.stderr)}")
    return ended.stdout


def _end(output: str) -> str:
    return "\n".join(output.splitlines()[-LAST_LINES:])


@contextmanager
def step(what: str) -> Iterator[None]:
    started = time.monotonic()
    log(f"{what} ...")
    yield
    log(f"{what}: {time.monotonic() - started:.1f} s")


def log(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
