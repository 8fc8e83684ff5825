"""The training loop: epochs of steps, evaluation rounds between steps, and checkpoints after any step.

A step (forward, backward, and the engine's update, which clips) is in `train_step.py`, a round in `evaluator.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from trainwright_trainer.callbacks.events import Event, Stepped
from trainwright_trainer.distributed.ranks import OneRank, Ranks
from trainwright_trainer.errors import EARLY_STOPPING, EPOCHS, STOPPED, TIME_LIMIT, TRAIN_STEPS, TRAINED
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.loader.interface import Loader
from trainwright_trainer.loop.arguments import Hooks, TrainingArguments, TrainingResult, check
from trainwright_trainer.loop.best import Best
from trainwright_trainer.loop.evaluator import Evaluator
from trainwright_trainer.loop.monitor import Monitors, monitors_of, own_metrics
from trainwright_trainer.loop.nan_guard import NanGuard
from trainwright_trainer.loop.protocols import Metrics, NewMetrics
from trainwright_trainer.loop.row_log import RowLog
from trainwright_trainer.loop.schedule import plan
from trainwright_trainer.loop.staging import Staging
from trainwright_trainer.loop.state import Progress, TrainState, check_model
from trainwright_trainer.loop.step_agreement import StepAgreement
from trainwright_trainer.loop.telemetry import Telemetry
from trainwright_trainer.loop.train_step import StepSeeds, TrainStep
from trainwright_trainer.models.trainable import Trainable
from trainwright_trainer.optim.plateau import Plateau
from trainwright_trainer.optim.schedules import LearningRateSchedule
from trainwright_trainer.rundir.checkpoint import Checkpoint
from trainwright_trainer.strategies.interface import Engine, EngineFactory
from trainwright_trainer.strategies.single import Single


class Trainer:
    """Trains `model` in place on the rows of `loaders["train"]`. `train` is called once."""

    def __init__(
        self,
        arguments: TrainingArguments,
        model: Trainable,
        loaders: Mapping[str, Loader],
        new_metrics: NewMetrics,
        *,
        ranks: Ranks | None = None,
        make_engine: EngineFactory = Single,
        hooks: Hooks | None = None,
        resume: Checkpoint | None = None,
    ) -> None:
        """Training continues from the checkpoint `resume`, bit for bit on the same machine.

        Raises `Mistakes` for options that do not fit together.
        """
        self._arguments, self._loaders, self._train = arguments, loaders, loaders["train"]
        self._ranks = ranks = ranks or OneRank()
        self._hooks = hooks = hooks or Hooks()
        trainer, batching = arguments.config.trainer, arguments.batching
        check(arguments.config, model, batching, ranks.world)
        monitors = monitors_of(trainer, arguments.output_types, own_metrics(arguments.config))
        if resume is not None:
            check_model(model, resume.specs)
        engine = make_engine(model, trainer, batching.learning_rate, ranks)
        self._state = state = self._new_state(engine, new_metrics(running=True), monitors)
        if resume is not None:
            state.restore(resume)
        self._rounds = rounds = plan(trainer, len(self._train), batching.global_rows)
        self._learning_rate = LearningRateSchedule(
            arguments.scheduler, batching.learning_rate, rounds.total_steps, rounds.steps_per_round
        )
        self._evaluator = None if trainer.skip_all_evaluation else self._new_evaluator(new_metrics(), monitors)
        self._agreement = StepAgreement(ranks, self._votes, engine.start_sum)
        self._cut = batching.cut(rounds.global_rows, ranks.rank, ranks.world)
        self._step = self._new_step(engine)
        self._seeds = StepSeeds(state.seed, ranks.rank, ranks.device)
        self._nan_guard = NanGuard(ranks.device)
        self._telemetry = Telemetry(ranks, hooks.clock)
        self._stopped = self._out_of_time = self._stop_was_voted = False
        self._began = self._saved = self._round_began = hooks.clock()
        self._saved_step = state.progress.step if state.progress.step else -1
        self._round_rows = self._saves = 0

    @property
    def model(self) -> Trainable:
        """The engine's model, for evaluation."""
        return self._state.engine.model

    def train(self) -> TrainingResult:
        """Train until all steps are done, early stopping or the time limit ends the run, or a rank's `stop` is True.

        At the end the given model has the weights of its best round (of the last step where nothing is evaluated),
        unless training was stopped; `TrainingResult` says where. Raises `Mistakes` for a loss that is not a number.
        """
        self._row_log = RowLog(self._arguments.attempt, self._ranks.rank)
        try:
            self._state.engine.model.train()
            while not self._over:
                self._train_epoch()
            return self._result()
        finally:
            self._row_log.close()
            self._agreement.close()

    def _train_epoch(self) -> None:
        progress = self._state.progress
        if progress.step == 0:
            self._state.metrics.reset()
        for batch in self._telemetry.timed(self._batches()):
            self._train_step(batch)
            if self._over:
                return
        progress.epoch, progress.rows = progress.epoch + 1, 0

    def _batches(self) -> Iterator[Batch]:
        """This rank's slices of the rest of the epoch."""
        progress = self._state.progress
        return self._train.epoch(progress.epoch, progress.rows, self._cut)

    def _train_step(self, batch: Batch) -> None:
        """One optimizer step, then the evaluation and the checkpoint that are due after it."""
        progress, rounds = self._state.progress, self._rounds
        rows = min(rounds.global_rows, rounds.rows - progress.rows)
        rate = self._learning_rate.rate(progress.step) * self._state.plateau.factor
        self._seeds.set(progress.step)
        loss = self._step(batch, rows, rate)
        self._nan_guard.watch(loss, progress.step + 1, progress.epoch)
        progress.step += 1
        progress.rows += rows
        self._round_rows += rows
        self._row_log.write(progress.step, batch.rows)
        self._notify(Stepped(progress.epoch, progress.step, progress.rows, rounds.rows, rate))
        if rounds.ends_round(progress.step):
            self._end_round(rate)
        stop, save = self._agreement.agreed()
        stop |= self._stop_was_voted
        if stop:
            self._stopped = not self._over
        if stop or save:
            self._save_checkpoint(None)

    def _end_round(self, rate: float) -> None:
        """Evaluate, then save a checkpoint with its score."""
        self._nan_guard.check(self._rounds.steps_per_epoch)
        spent = self._hooks.clock() - self._round_began
        own, score = self._telemetry.round(spent), None
        if self._evaluator is not None:
            evaluated = self._evaluator.end(self._seconds, self._round_rows / max(spent, 1e-9), rate)
            score = self._evaluator.score(evaluated.scores)
            self._notify(replace(evaluated, ranks=tuple(self._ranks.gather(own))))
        self._save_checkpoint(score)
        self._out_of_time = self._is_out_of_time()
        self._round_began, self._round_rows = self._hooks.clock(), 0

    def _is_out_of_time(self) -> bool:
        """True after the time limit. The clock of rank 0 decides."""
        limit = self._arguments.time_limit
        return limit is not None and self._ranks.share(self._hooks.clock() - self._began >= limit)

    def _save_checkpoint(self, score: float | None) -> None:
        """Save a snapshot, unless this step is saved already. Raises `Mistakes` if a loss was not finite."""
        if self._saved_step == self._state.progress.step:
            return
        self._nan_guard.check(self._rounds.steps_per_epoch)
        before, saves = self._hooks.clock(), self._hooks.saves()
        if self._hooks.checkpoints is not None:
            self._hooks.checkpoints.save(self._state.capture(self._seconds, score))
        self._saved, self._saved_step, self._saves = self._hooks.clock(), self._state.progress.step, saves
        self._stop_was_voted |= any(stop for stop, _ in self._agreement.forget_votes())
        # The time of the copy does not count as time of the steps.
        self._round_began += self._saved - before

    def _votes(self) -> tuple[bool, bool]:
        """This rank's votes: whether to stop, and whether to save. Clocks differ, so only rank 0 votes for a save."""
        decides = self._ranks.rank == 0 and self._hooks.checkpoints is not None
        return self._hooks.stop(), decides and (self._save_requested or self._save_is_due)

    @property
    def _save_requested(self) -> bool:
        return self._hooks.saves() > self._saves

    @property
    def _save_is_due(self) -> bool:
        return 0 < self._arguments.policy.every_seconds <= self._hooks.clock() - self._saved

    @property
    def _over(self) -> bool:
        ended = self._stopped or self._out_of_time or self._state.best.exhausted
        return ended or self._state.progress.step >= self._rounds.total_steps

    @property
    def _seconds(self) -> float:
        """The seconds of training so far, over all attempts."""
        return self._state.progress.seconds + self._hooks.clock() - self._began

    def _notify(self, event: Event) -> None:
        for listener in self._hooks.listeners:
            listener.on_event(event)

    def _result(self) -> TrainingResult:
        """Give the model the weights of its best round, unless training was stopped."""
        self._agreement.forget_votes()
        best, progress = self._state.best, self._state.progress
        seconds = self._seconds
        if self._stopped:
            outcome = STOPPED
        elif best.exhausted:
            outcome = replace(TRAINED, reason=EARLY_STOPPING)
        elif self._out_of_time and progress.step < self._rounds.total_steps:
            outcome = replace(TRAINED, reason=TIME_LIMIT)
        else:
            by_steps = self._arguments.config.trainer.train_steps
            outcome = replace(TRAINED, reason=TRAIN_STEPS if by_steps else EPOCHS)
        known = best.weights is not None
        if not self._stopped and known and best.step != progress.step:
            self._state.load_best()
        is_whole = self._stopped or self._state.engine.consolidate()
        if is_whole:
            self._state.engine.finish()
        return TrainingResult(
            outcome,
            progress.position,
            seconds,
            best.epoch if known else progress.epoch,
            best.step if known else progress.step,
            tuple(progress.history),
            is_whole,
        )

    def _new_state(self, engine: Engine, metrics: Metrics, monitors: Monitors) -> TrainState:
        arguments, trainer = self._arguments, self._arguments.config.trainer
        return TrainState(
            arguments.seed,
            engine,
            metrics,
            Plateau(arguments.scheduler),
            Best(monitors.validation, trainer.early_stop, arguments.tolerance),
            Progress(),
            Staging(self._ranks.device),
        )

    def _new_evaluator(self, metrics: Metrics, monitors: Monitors) -> Evaluator:
        arguments, trainer = self._arguments, self._arguments.config.trainer
        rows = trainer.eval_batch_size if isinstance(trainer.eval_batch_size, int) else 0
        return Evaluator(
            self._state,
            trainer,
            self._loaders,
            metrics,
            monitors.plateau,
            rows or arguments.batching.pass_rows,
            self._ranks,
            arguments.policy.score_attribute,
        )

    def _new_step(self, engine: Engine) -> TrainStep:
        arguments, trainer = self._arguments, self._arguments.config.trainer
        engine.warm_up(next(self._train.sequential(1, 0, 1)))
        return TrainStep(
            engine,
            self._agreement,
            None if trainer.evaluate_training_set or trainer.skip_all_evaluation else self._state.metrics,
            self._cut,
            has_root_loss=arguments.has_roots,
        )
