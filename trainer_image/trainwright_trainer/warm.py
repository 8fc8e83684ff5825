"""Heavy imports, begun early: torch takes seconds to import, and Arrow reads the data on threads of its own."""

from __future__ import annotations

import importlib
import threading

_MODULES = ("torch", "trainwright_trainer.model", "trainwright_trainer.loop.train", "trainwright_trainer.metrics.model")


def warm_imports() -> threading.Thread:
    """Imports what training needs in the background. Whoever imports the same meanwhile waits for it, as Python does.

    A failure is not told here: the import statement that needs the module tells it.
    """
    thread = threading.Thread(target=_import_all, name="warm-imports", daemon=True)
    thread.start()
    return thread


def _import_all() -> None:
    for module in _MODULES:
        try:
            importlib.import_module(module)
        except ImportError:
            return
