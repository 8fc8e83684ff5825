"""Where a run computes: the word of `backend.type` → what gives its strategy. A new one is one file and one line."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from trainwright_trainer.backends.local import local
from trainwright_trainer.strategies.interface import Strategy

BACKENDS: Mapping[str, Callable[[], Strategy]] = {"local": local}

__all__ = ["BACKENDS"]
