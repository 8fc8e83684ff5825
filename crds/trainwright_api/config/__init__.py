"""The Ludwig half of the contract: `spec.config`, with Ludwig's names, types and defaults."""

from __future__ import annotations

from trainwright_api.config.model import ModelConfig
from trainwright_api.config.resolve import resolve, stored_config

__all__ = ["ModelConfig", "resolve", "stored_config"]
