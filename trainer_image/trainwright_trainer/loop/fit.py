"""`train` builds the parts of the training loop, runs it, and leaves the best weights in the model."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from trainwright_api.config import ModelConfig
from trainwright_api.config.trainer import LearningRateScheduler, TrainerConfig
from trainwright_api.problems import Mistakes
from trainwright_api.resource.job import CheckpointPolicy
from trainwright_trainer.callbacks.events import Evaluated, Listener
from trainwright_trainer.job.batching import ROOTS, Batching, check_losses_add_up
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.loader.materialised import Split, moved
from trainwright_trainer.loop.best import Best
from trainwright_trainer.loop.evaluator import Evaluator
from trainwright_trainer.loop.monitor import Monitors, monitors_of, own_metrics
from trainwright_trainer.loop.precision import Precision
from trainwright_trainer.loop.protocols import Checkpoints, Metrics, Trainable
from trainwright_trainer.loop.row_log import RowLog
from trainwright_trainer.loop.schedule import plan
from trainwright_trainer.loop.state import Progress, State
from trainwright_trainer.loop.train_step import TrainStep
from trainwright_trainer.loop.trainer import EARLY_STOPPING, EPOCHS, STOPPED, TRAIN_STEPS, Saving, Trainer
from trainwright_trainer.optim.optimizers import make_optimizer
from trainwright_trainer.optim.plateau import Plateau
from trainwright_trainer.optim.schedules import Schedule
from trainwright_trainer.rundir.snapshot import Position, Snapshot
from trainwright_trainer.strategies.interface import Strategy
from trainwright_trainer.strategies.single import Single


@dataclass(frozen=True)
class Result:
    """The end of training. `reason`: epochs, train_steps, early stopping, or stopped (after it saved a checkpoint)."""

    reason: str
    position: Position
    seconds: float
    best_epoch: int
    best_step: int
    history: Sequence[Evaluated]


def train(
    config: ModelConfig,
    model: Trainable,
    splits: Mapping[str, Split],
    new_metrics: Callable[[], Metrics],
    *,
    seed: int,
    batching: Batching,
    checkpoints: Checkpoints | None,
    policy: CheckpointPolicy | None = None,
    listeners: Sequence[Listener] = (),
    strategy: Strategy | None = None,
    resume: Snapshot | None = None,
    stop: Callable[[], bool] = lambda: False,
    saves: Callable[[], int] = int,
    attempt: int = 1,
    tolerance: float = 0.0,
    clock: Callable[[], float] = time.monotonic,
) -> Result:
    """Train `model` in place on `splits["train"]`. `config` and `batching` are resolved.

    At the end the model has the weights of its best round (of the last step where nothing is evaluated), unless
    training was stopped. Training continues from the snapshot `resume`, bit for bit on the same machine. `stop` and
    `saves` are called at every step; `saves` returns the number of checkpoints requested so far. With several ranks
    only rank 0 gets `checkpoints`, and its clock and its `saves` decide when to save. `tolerance`: see `Best`. Raises
    `Mistakes` for a loss that is not a number and for options that do not fit together.
    """
    trainer, policy, strategy = config.trainer, policy or CheckpointPolicy(), strategy or Single()
    check(config, model, batching, strategy.world)
    types = {feature.name: feature.type for feature in config.output_features}
    measures = monitors_of(trainer, types, own_metrics(config))
    precision = Precision(trainer, strategy.device)
    best = Best(measures.validation, trainer.early_stop, tolerance)
    state = _state(model, trainer, best, measures, precision, new_metrics, seed, batching)
    if resume is not None:
        state.restore(resume, strategy.rank, strategy.world)
    eval_rows = trainer.eval_batch_size if isinstance(trainer.eval_batch_size, int) else 0
    rounds = Evaluator(
        state,
        trainer,
        splits,
        new_metrics(),
        measures.plateau,
        eval_rows or batching.pass_rows,
        strategy,
        policy.score_attribute,
    )
    lengths = plan(trainer, len(splits["train"]), batching.global_rows)
    running = None if trainer.evaluate_training_set or trainer.skip_all_evaluation else state.metrics
    step = TrainStep(
        model, state.optimizer, strategy, precision, trainer, running, batching.pass_rows, roots=has_roots(config)
    )
    if strategy.world > 1:
        step.rehearse(_one_row(splits["train"], strategy))
    row_log = RowLog(attempt, strategy.rank)
    course = Trainer(
        state,
        step,
        lengths,
        Schedule(_scheduler(trainer), batching.learning_rate, lengths.total_steps, lengths.steps_per_round),
        None if trainer.skip_all_evaluation else rounds,
        Saving(checkpoints, policy.every_seconds, saves),
        splits["train"],
        strategy,
        shuffled=trainer.should_shuffle,
        listeners=listeners,
        stop=stop,
        row_log=row_log,
        clock=clock,
    )
    try:
        course.run()
    finally:
        row_log.close()
    return _result(course, state, trainer)


def check(config: ModelConfig, model: Trainable, batching: Batching | None, world: int = 1) -> None:
    """Raise the `Mistakes` that `train` raises before its first step."""
    monitors_of(config.trainer, {feature.name: feature.type for feature in config.output_features})
    freeze(model, config.trainer.layers_to_freeze_regex)
    if batching is not None:
        check_losses_add_up(_losses(config), batching.passes(world))


def has_roots(config: ModelConfig) -> bool:
    """True if some loss is the root of a mean over the whole batch."""
    return any(word in ROOTS for word in _losses(config))


def _losses(config: ModelConfig) -> list[str]:
    return [feature.loss.type for feature in config.output_features]


def _one_row(split: Split, strategy: Strategy) -> Batch:
    return moved(next(split.batches(1)), strategy.device)


def _state(
    model: Trainable,
    trainer: TrainerConfig,
    best: Best,
    measures: Monitors,
    precision: Precision,
    new_metrics: Callable[[], Metrics],
    seed: int,
    batching: Batching,
) -> State:
    trained = [parameter for _, parameter in model.named_parameters() if parameter.requires_grad]
    return State(
        seed,
        model,
        make_optimizer(trainer.optimizer, trained, batching.learning_rate),
        precision.scaler,
        new_metrics(),
        Plateau(_scheduler(trainer), measures.plateau.direction),
        best,
        Progress(),
    )


def _scheduler(trainer: TrainerConfig) -> LearningRateScheduler:
    return trainer.learning_rate_scheduler or LearningRateScheduler()


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


def _result(course: Trainer, state: State, trainer: TrainerConfig) -> Result:
    best, progress = state.best, state.progress
    seconds = course.seconds
    if course.stopped:
        reason = STOPPED
    elif best.exhausted:
        reason = EARLY_STOPPING
    else:
        reason = TRAIN_STEPS if trainer.train_steps else EPOCHS
    if not course.stopped and best.weights is not None and best.step != progress.step:
        state.model.load_state_dict(best.weights)
    known = best.weights is not None
    return Result(
        reason,
        progress.position,
        seconds,
        best.epoch if known else progress.epoch,
        best.step if known else progress.step,
        tuple(progress.history),
    )
