"""Training in one process: gradients need no sum."""

from __future__ import annotations

from trainwright_trainer.strategies.torch_engine import TorchEngine


class Single(TorchEngine):
    """The engine of one process on one device."""
