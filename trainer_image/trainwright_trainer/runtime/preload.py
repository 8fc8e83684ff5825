"""Heavy imports, begun early: torch takes seconds to import, and Arrow reads the data on threads of its own."""

from __future__ import annotations

import importlib
import os
import threading

_MODULES = (
    "torch",
    "trainwright_trainer.models.model",
    "trainwright_trainer.loop.fit",
    "trainwright_trainer.metrics.model",
)

# How often an idle thread of torch's looks for work before it sleeps. By its own default, and with 100,000 looks, it
# takes the core on a busy machine from the thread that has the work: a step on two of two busy cores then takes ten
# times as long as on one. Small steps, which would feel the sleep, have one thread (`threads.py`).
SPINS = "1000"


def preload_imports() -> threading.Thread:
    """Imports what training needs in the background. Whoever imports the same meanwhile waits for it, as Python does.

    A failure is not told here: the import statement that needs the module tells it.
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
