"""Heavy imports, begun early: torch takes seconds to import, and Arrow reads the data on threads of its own."""

from __future__ import annotations

import importlib
import os
import threading

_MODULES = ("torch", "trainwright_trainer.model", "trainwright_trainer.loop.train", "trainwright_trainer.metrics.model")


def warm_imports() -> threading.Thread:
    """Imports what training needs in the background. Whoever imports the same meanwhile waits for it, as Python does.

    A failure is not told here: the import statement that needs the module tells it.
    """
    # An idle thread of torch's must not spin for the next bit of work: on a shared machine it takes the core from the
    # one that has the work, and a step takes seven times as long. A user's own setting stands.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    thread = threading.Thread(target=_import_all, name="warm-imports", daemon=True)
    thread.start()
    return thread


def _import_all() -> None:
    for module in _MODULES:
        try:
            importlib.import_module(module)
        except ImportError:
            return
