"""Prints each step and its duration on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def step(what: str) -> Iterator[None]:
    started = time.monotonic()
    log(f"{what} ...")
    yield
    log(f"{what}: {time.monotonic() - started:.1f} s")


def log(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
