"""The arguments and the result of a training, and the checks that precede its first step."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from trainwright_api.config import ModelConfig
from trainwright_api.config.losses import ROOTS
from trainwright_api.config.trainer import LearningRateScheduler
from trainwright_api.problems import Mistakes
from trainwright_api.resource.job import CheckpointPolicy
from trainwright_trainer.callbacks.events import Evaluated, Listener
from trainwright_trainer.errors import Outcome
from trainwright_trainer.job.batching import Batching, check_losses_add_up
from trainwright_trainer.loop.monitor import monitors_of
from trainwright_trainer.loop.protocols import Checkpoints
from trainwright_trainer.models.trainable import Trainable
from trainwright_trainer.rundir.snapshot import Position


@dataclass(frozen=True)
class TrainingArguments:
    """The settings of a training. `config` and `batching` are resolved; `tolerance`: see `Best`.

    `time_limit`: training ends with the round in which so many seconds of this attempt have passed.
    """

    config: ModelConfig
    batching: Batching
    seed: int
    policy: CheckpointPolicy = field(default_factory=CheckpointPolicy)
    attempt: int = 1
    tolerance: float = 0.0
    time_limit: float | None = None

    @property
    def scheduler(self) -> LearningRateScheduler:
        return self.config.trainer.learning_rate_scheduler or LearningRateScheduler()

    @property
    def has_roots(self) -> bool:
        """True if some loss is the root of a mean over the whole batch."""
        return any(loss in ROOTS for loss in _losses(self.config))

    @property
    def output_types(self) -> dict[str, str]:
        """Output feature → type, in the order of the config."""
        return {feature.name: feature.type for feature in self.config.output_features}


@dataclass(frozen=True)
class Hooks:
    """Functions and objects of the caller. The loop calls `stop` and `saves` at every step.

    `saves` returns the number of checkpoints requested so far. With several ranks, the clock and the `saves` of rank 0
    decide when all ranks save.
    """

    listeners: Sequence[Listener] = ()
    checkpoints: Checkpoints | None = None
    stop: Callable[[], bool] = bool
    saves: Callable[[], int] = int
    clock: Callable[[], float] = time.monotonic


@dataclass(frozen=True)
class TrainingResult:
    """The end of training. `outcome`: done, with its reason, or stopped (after the loop saved a checkpoint).

    `is_whole` is False if the trained model does not fit on the device of each rank. Then rank 0 has it on the CPU, the
    others have none, and `Trainer.model` evaluates it, on all ranks together.
    """

    outcome: Outcome
    position: Position
    seconds: float
    best_epoch: int
    best_step: int
    history: Sequence[Evaluated]
    is_whole: bool = True


def check(config: ModelConfig, model: Trainable, batching: Batching | None, world: int = 1) -> None:
    """Raise the `Mistakes` that `Trainer` raises before its first step. Freezes the parameters that the config names.

    `batching` is None if the batch size is not known yet.
    """
    monitors_of(config.trainer, {feature.name: feature.type for feature in config.output_features})
    freeze(model, config.trainer.layers_to_freeze_regex)
    _check_trained(model)
    if batching is not None:
        check_losses_add_up(_losses(config), batching.passes(world))


def freeze(model: Trainable, pattern: str | None) -> None:
    """Exclude the parameters whose names match `pattern` from training. Raises `Mistakes` if none or all match."""
    if pattern is None:
        return
    named = dict(model.named_parameters())
    found = [name for name in named if re.search(pattern, name)]
    if not found or len(found) == len(named):
        raise Mistakes.one(
            "config.trainer.layers_to_freeze_regex",
            f"'{pattern}' matches {'all' if found else 'none'} of the parameters: {', '.join(named)}",
        )
    for name in found:
        named[name].requires_grad_(False)


def _check_trained(model: Trainable) -> None:
    """Raise `Mistakes` if training would change no parameter."""
    named = dict(model.named_parameters())
    if any(one.requires_grad for one in named.values()):
        return
    frozen = f"all parameters of the model are frozen: {', '.join(named)}"
    raise Mistakes.one("config", frozen if named else "the model has no parameters to train")


def _losses(config: ModelConfig) -> list[str]:
    return [feature.loss.type for feature in config.output_features]
