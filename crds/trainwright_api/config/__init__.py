"""The Ludwig half of the contract: `spec.config`, with Ludwig's names, types and defaults."""

from __future__ import annotations

from trainwright_api.config.model import ModelConfig
from trainwright_api.config.resolve import resolve

__all__ = ["ModelConfig", "resolve"]
