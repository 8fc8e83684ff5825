"""This process on this machine, with its GPU where there is one."""

from __future__ import annotations

import torch

from trainwright_trainer.strategies.single import Single


def local() -> Single:
    """One process; nothing is started and nothing is handed over."""
    return Single("cuda" if torch.cuda.is_available() else "cpu")
