"""How this process gets memory for tensors: without a page fault for each part of each tensor in each step.

A step allocates the same tensors as the step before. By default, glibc gives large ones back to the kernel at once, and
the kernel clears each page again: a fifth of the time of a step of 100 million parameters. bench/README.md has the
measurements.
"""

from __future__ import annotations

import ctypes
import os
import sys

# The names of glibc's malloc.h, and the largest threshold that it takes on a machine of 64 bits.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_LARGEST_THRESHOLD = 32 << 20
_KEPT_BYTES = 256 << 20
"""The most free memory at the end of the heap that is kept for the next step."""
# Variables by which a user chooses another way; glibc reads them when the process starts.
_CHOSEN = ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "GLIBC_TUNABLES", "LD_PRELOAD")


def keep_memory_between_steps() -> None:
    """Keep the memory of tensors up to 32 MiB in the process, and let larger ones have large pages.

    Called before torch allocates. Nothing is kept without glibc, and where a variable of the environment decides.
    """
    os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")  # torch reads it at its first allocation
    if sys.platform != "linux" or any(name in os.environ for name in _CHOSEN):
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _LARGEST_THRESHOLD)
        mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)
