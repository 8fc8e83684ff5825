"""How gradients meet, one file each. A process alone has none to meet, whatever the file says."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from trainwright_trainer.strategies.interface import Strategy
from trainwright_trainer.strategies.single import Single


def _ddp(device: str) -> Strategy:
    from trainwright_trainer.strategies.ddp import Ddp  # a process alone need not import it

    return Ddp(device)


STRATEGIES: Mapping[str, Callable[[str], Strategy]] = {"single": Single, "ddp": _ddp}


def strategy_for(word: str, world: int, device: str) -> Strategy:
    """The strategy that `backend.trainer.strategy` names, for one of `world` processes."""
    return STRATEGIES[word if world > 1 else "single"](device)
