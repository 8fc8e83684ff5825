"""The strategies: how ranks train one model together, one file each. Each is imported where it is used, with torch.

A single process always uses `Single`, except with DeepSpeed, whose offload and precision act on one process too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

from trainwright_api.problems import Mistakes
from trainwright_api.resource.strategy import Strategy

if TYPE_CHECKING:
    from trainwright_trainer.distributed.ranks import Ranks
    from trainwright_trainer.strategies.interface import EngineFactory


def _single(_: Strategy | None) -> EngineFactory:
    from trainwright_trainer.strategies.single import Single

    return Single


def _ddp(_: Strategy) -> EngineFactory:
    from trainwright_trainer.strategies.ddp import Ddp

    return Ddp


def _fsdp(section: Strategy) -> EngineFactory:
    from trainwright_trainer.strategies.fsdp import Fsdp

    return partial(Fsdp, section)


def _deepspeed(section: Strategy) -> EngineFactory:
    from trainwright_trainer.strategies.deepspeed import Deepspeed

    return partial(Deepspeed, section)


def _horovod(_: Strategy) -> EngineFactory:
    from trainwright_trainer.strategies.horovod import Horovod

    return Horovod


STRATEGIES: Mapping[str, Callable[[Strategy], EngineFactory]] = {
    "single": _single,
    "ddp": _ddp,
    "fsdp": _fsdp,
    "deepspeed": _deepspeed,
    "horovod": _horovod,
}
# Libraries that are not part of every installation → the command that installs them.
_LIBRARIES = {
    "deepspeed": "pip install 'trainwright[deepspeed]'",
    # Its last release has to be changed before it builds, so no extra can name it.
    "horovod": "make horovod, in a checkout of Trainwright",
}


def engine_for(section: Strategy | None, ranks: Ranks) -> EngineFactory:
    """The engine of a strategy for this rank. None: the backend trains in one process."""
    if section is None or (ranks.world == 1 and section.type != "deepspeed"):
        return _single(section)
    if section.type == "deepspeed" and ranks.device.type == "cpu":
        os.environ.setdefault("DS_ACCELERATOR", "cpu")  # or DeepSpeed looks for a GPU itself when it is imported
    return STRATEGIES[section.type](section)


def check_installed(strategy: str) -> None:
    """Raise `Mistakes` if the strategy needs a library that is not installed."""
    if strategy in _LIBRARIES and find_spec(strategy) is None:
        found = f"{strategy} is not installed here. Install it with: {_LIBRARIES[strategy]}"
        raise Mistakes.one("backend.trainer.strategy", found)
