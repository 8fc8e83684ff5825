"""The strategies: how ranks train one model together, one file each. A single process always uses `Single`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from trainwright_trainer.strategies.interface import EngineFactory
from trainwright_trainer.strategies.single import Single


def _ddp() -> EngineFactory:
    from trainwright_trainer.strategies.ddp import Ddp  # a single process does not need the import

    return Ddp


def _fsdp() -> EngineFactory:
    from trainwright_trainer.strategies.fsdp import Fsdp

    return Fsdp


STRATEGIES: Mapping[str, Callable[[], EngineFactory]] = {"single": lambda: Single, "ddp": _ddp, "fsdp": _fsdp}


def engine_for(word: str, world: int) -> EngineFactory:
    """The engine that `backend.trainer.strategy` names, for one of `world` processes; `single` if `world` is 1."""
    return STRATEGIES[word if world > 1 else "single"]()
