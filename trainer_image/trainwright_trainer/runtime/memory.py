"""The memory that this process may use."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from pathlib import Path

from trainwright_trainer.runtime import cgroups

_FILES = ("memory.max", "memory.high", "memory.limit_in_bytes")
_LIMITS = (resource.RLIMIT_AS, resource.RLIMIT_DATA)


def usable_bytes(root: Path = Path("/")) -> int:
    """The minimum of the machine's memory, the limits of the cgroups, and the limits of the process (`ulimit`)."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    own = [limit for limit, _ in map(resource.getrlimit, _LIMITS) if limit != resource.RLIM_INFINITY]
    return min([physical, *own, *_of_cgroups(root)])


def _of_cgroups(root: Path) -> Iterator[int]:
    """Version 1 writes a number beyond every machine where there is no limit, version 2 the word `max`."""
    for folder in cgroups.folders("memory", root):
        for name in _FILES:
            try:
                text = (folder / name).read_text().strip()
            except OSError:
                continue
            if text != "max":
                yield int(text)
