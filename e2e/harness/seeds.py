"""Chance that can be repeated."""

from __future__ import annotations

import os
import secrets

VARIABLE = "TRAINWRIGHT_SEED"


def rotating() -> int:
    """Another one every time, unless the variable names one. pytest shows it where the test fails."""
    seed = int(os.environ.get(VARIABLE) or secrets.randbelow(1_000_000))
    print(f"{VARIABLE}={seed}")
    return seed
