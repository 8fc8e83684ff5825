"""Early imports in the background. Importing torch takes seconds, in which Arrow's threads already read the data."""

from __future__ import annotations

import importlib
import os
import threading

_MODULES = (
    "torch",
    "trainwright_trainer.models.model",
    "trainwright_trainer.loop.trainer",
    "trainwright_trainer.metrics.model",
)

# The number of times an idle thread of torch spins before it sleeps. With the default, and with 100,000 spins, an idle
# thread on a busy machine takes the core from the thread that has work: a step with two threads on two busy cores then
# takes ten times as long as with one. Sleep would slow small steps, but these have one thread (`threads.py`).
SPINS = "1000"


def preload_imports() -> threading.Thread:
    """Import the modules of training in a background thread. A concurrent import of the same module waits for it.

    An import error is ignored here: the import statement that needs the module raises it again.
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", SPINS)
    thread = threading.Thread(target=_import_all, name="warm-imports", daemon=True)
    thread.start()
    return thread


def _import_all() -> None:
    for module in _MODULES:
        try:
            importlib.import_module(module)
        except ImportError:
            return
