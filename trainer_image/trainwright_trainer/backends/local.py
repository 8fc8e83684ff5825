"""This process on this machine, with its GPU where there is one."""

from __future__ import annotations

import torch

from trainwright_trainer.backends.seat import Seat


def local() -> Seat:
    """One process; nothing is started."""
    return Seat(0, 1, "cuda" if torch.cuda.is_available() else "cpu")
