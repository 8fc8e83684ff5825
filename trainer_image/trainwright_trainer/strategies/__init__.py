"""The strategies by which ranks sum their gradients, one file each. A single process always uses `Single`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from trainwright_trainer.strategies.interface import Strategy
from trainwright_trainer.strategies.single import Single


def _ddp(device: str) -> Strategy:
    from trainwright_trainer.strategies.ddp import Ddp  # a single process does not need the import

    return Ddp(device)


STRATEGIES: Mapping[str, Callable[[str], Strategy]] = {"single": Single, "ddp": _ddp}


def strategy_for(word: str, world: int, device: str) -> Strategy:
    """The strategy that `backend.trainer.strategy` names, for one of `world` processes; `single` if `world` is 1."""
    return STRATEGIES[word if world > 1 else "single"](device)
