"""The versions of the software that computes a run."""

from __future__ import annotations

import platform
from importlib.metadata import version


def versions() -> dict[str, str]:
    """For people only. No decision depends on them."""
    return {"trainwright": version("trainwright"), "torch": version("torch"), "python": platform.python_version()}
