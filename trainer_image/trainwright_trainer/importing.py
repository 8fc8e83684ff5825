"""torch takes seconds to import. A thread does it while Arrow reads and encodes, which holds no interpreter lock."""

from __future__ import annotations

import importlib
import threading

SLOW = ("torch", "safetensors.torch")


def import_in_background() -> None:
    """Start importing what training will need. Whoever imports it meanwhile waits for the same import."""
    threading.Thread(target=_import, name="imports", daemon=True).start()


def _import() -> None:
    for name in SLOW:
        importlib.import_module(name)
