"""Random seeds that can be repeated."""

from __future__ import annotations

import os
import secrets

VARIABLE = "TRAINWRIGHT_SEED"


def rotating() -> int:
    """A new seed each run, unless the variable sets one. pytest prints it on failure."""
    seed = int(os.environ.get(VARIABLE) or secrets.randbelow(1_000_000))
    print(f"{VARIABLE}={seed}")
    return seed
