"""What a run was computed with."""

from __future__ import annotations

import platform
from importlib.metadata import version


def versions() -> dict[str, str]:
    """For people: no decision rests on them."""
    return {"trainwright": version("trainwright"), "torch": version("torch"), "python": platform.python_version()}
