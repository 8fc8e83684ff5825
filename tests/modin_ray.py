"""Ray in the process of the tests, with workers that cut small blocks. Processor modin needs it."""

from __future__ import annotations

import gc
import importlib
import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

BLOCK_ROWS = 4
BLOCK_MODULES = tuple(f"trainwright_trainer.data.{name}" for name in ("rows", "source", "computation"))
_ROOT = Path(__file__).parents[1]
_TRIES = 3


def cut_small_blocks() -> None:
    """Called at the start of each process of Ray."""
    for name in BLOCK_MODULES:
        importlib.import_module(name).BLOCK_ROWS = BLOCK_ROWS  # type: ignore[attr-defined]


@contextmanager
def small_blocks() -> Iterator[None]:
    """A Ray with two CPUs."""
    from trainwright_trainer.backends.ray.environment import settle

    settle(os.environ)
    import ray

    options = {
        "num_cpus": 2,
        "include_dashboard": False,
        "log_to_driver": False,
        "logging_level": logging.ERROR,
        "object_store_memory": 1 << 27,
        "runtime_env": {"worker_process_setup_hook": cut_small_blocks, "env_vars": {"PYTHONPATH": str(_ROOT)}},
    }
    for left in reversed(range(_TRIES)):
        try:
            ray.init("local", **options)
            break
        except Exception:  # a busy machine is slow
            _shut_down()
            if not left:
                raise
    try:
        yield
    finally:
        _shut_down()


def _shut_down() -> None:
    """Ray drops its processes without waiting for them, and a later test would be blamed for them."""
    import ray

    ray.shutdown()
    with warnings.catch_warnings(action="ignore", category=ResourceWarning):
        gc.collect()
