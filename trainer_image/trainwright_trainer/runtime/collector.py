"""Python's collector of cyclic garbage, and the half million objects of imported modules, which live until the end."""

from __future__ import annotations

import atexit
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

REPORTS_LEAKS = {"onnx", "triton"}
"""Libraries bound by nanobind, which prints a warning for each object that is not collected at the end."""


@contextmanager
def without_collections() -> Iterator[None]:
    """Collect nothing in this block. Imports only add objects: collections take a fifth of their time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def collect_nothing_at_exit() -> None:
    """End the process without a last collection, which takes half a second where torch is imported.

    Objects in cycles get no finalizer then; Python promises none.
    """
    atexit.register(_freeze)


def _freeze() -> None:
    if not REPORTS_LEAKS & sys.modules.keys():
        gc.freeze()
