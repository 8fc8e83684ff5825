"""The training loop: epochs of steps, evaluation rounds between steps, and snapshots after any step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from trainwright_trainer.callbacks.events import Evaluated, Listener, Stepped
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.loader.materialised import Cut, Split, epoch_batches, epoch_positions
from trainwright_trainer.loop.evaluator import Evaluator
from trainwright_trainer.loop.nan_guard import NanGuard
from trainwright_trainer.loop.protocols import Checkpoints
from trainwright_trainer.loop.randomness import StepSeeds
from trainwright_trainer.loop.row_log import RowLog
from trainwright_trainer.loop.schedule import RoundSchedule
from trainwright_trainer.loop.state import State
from trainwright_trainer.loop.telemetry import Telemetry
from trainwright_trainer.loop.train_step import TrainStep
from trainwright_trainer.optim.schedules import Schedule
from trainwright_trainer.strategies.interface import Strategy

EPOCHS, TRAIN_STEPS, EARLY_STOPPING, STOPPED = "epochs", "train_steps", "early stopping", "stopped"


@dataclass(frozen=True)
class Saving:
    """The destination of snapshots, and the rules by which rank 0 decides to save one.

    A snapshot is saved at the end of each round, every `every_seconds` (0: never), and when the count that `saves`
    returns has grown.
    """

    checkpoints: Checkpoints | None
    every_seconds: float
    saves: Callable[[], int]


class Trainer:
    """The training loop. It runs once, from the position of `state`."""

    def __init__(
        self,
        state: State,
        step: TrainStep,
        plan: RoundSchedule,
        schedule: Schedule,
        rounds: Evaluator | None,
        saving: Saving,
        train: Split,
        strategy: Strategy,
        *,
        shuffled: bool,
        listeners: Sequence[Listener],
        stop: Callable[[], bool],
        row_log: RowLog,
        clock: Callable[[], float],
    ) -> None:
        self._state, self._step, self._plan, self._schedule = state, step, plan, schedule
        self._rounds, self._saving, self._train, self._strategy = rounds, saving, train, strategy
        self._shuffled, self._listeners, self._stop = shuffled, listeners, stop
        self._row_log, self._clock = row_log, clock
        self._seeds = StepSeeds(state.seed, strategy.rank, strategy.device)
        self._finite = NanGuard(strategy.device)
        self._meter = Telemetry(strategy, clock)
        self._stopped = False
        self._begun = self._saved = self._mark = clock()
        self._saved_step = state.progress.step if state.progress.step else -1
        self._marked_rows = self._asked = 0
        strategy.vote(self._control_state)

    @property
    def seconds(self) -> float:
        """The seconds of training so far, over all attempts."""
        return self._state.progress.seconds + self._clock() - self._begun

    @property
    def stopped(self) -> bool:
        """True if `stop` ended training before its regular end."""
        return self._stopped

    def run(self) -> None:
        """Train until all steps are done, early stopping ends the run, or `stop` returns True on some rank."""
        self._state.model.train()
        while not self.over:
            self._epoch()

    @property
    def over(self) -> bool:
        return self._stopped or self._state.best.exhausted or self._state.progress.step >= self._plan.total_steps

    def _epoch(self) -> None:
        progress = self._state.progress
        if progress.rows == 0:
            self._state.metrics.reset()
        for batch in self._meter.timed(self._batches()):
            self._one(batch)
            if self.over:
                return
        progress.epoch, progress.rows = progress.epoch + 1, 0

    def _batches(self) -> Iterator[Batch]:
        progress, strategy = self._state.progress, self._strategy
        positions = epoch_positions(self._train, self._state.seed, progress.epoch) if self._shuffled else None
        cut = Cut(self._plan.global_rows, strategy.rank, strategy.world)
        yield from epoch_batches(self._train, positions, cut, progress.rows, strategy.device)

    def _one(self, batch: Batch) -> None:
        progress = self._state.progress
        rows = min(self._plan.global_rows, self._plan.rows - progress.rows)
        rate = self.rate
        self._seeds.set(progress.step)
        loss = self._step(batch, rows, rate)
        self._finite.watch(loss, progress.step + 1, progress.epoch)
        progress.step += 1
        progress.rows += rows
        self._marked_rows += rows
        self._row_log.write(progress.step, batch.rows)
        event = Stepped(progress.epoch, progress.step, progress.rows, self._plan.rows, rate)
        for listener in self._listeners:
            listener.on_event(event)
        self._between(rate)

    @property
    def rate(self) -> float:
        """The learning rate of the next step."""
        return self._schedule.rate(self._state.progress.step) * self._state.plateau.factor

    def _between(self, rate: float) -> None:
        if self._plan.ends_round(self._state.progress.step):
            self._end_round(rate)
        stop, save = self._strategy.agreed()
        if stop:
            self._stopped = not self.over
        if stop or save:
            self._save(None)

    def _control_state(self) -> tuple[bool, bool]:
        """This rank's votes: whether to stop, and whether to save."""
        return self._stop(), self._saving.checkpoints is not None and (self._asked_to_save or self._is_time)

    @property
    def _asked_to_save(self) -> bool:
        return self._saving.saves() > self._asked

    @property
    def _is_time(self) -> bool:
        return 0 < self._saving.every_seconds <= self._clock() - self._saved

    def _end_round(self, rate: float) -> None:
        self._finite.check(self._plan.steps_per_epoch)
        spent = self._clock() - self._mark
        own, score = self._meter.round(spent), None
        if self._rounds is not None:
            evaluated = self._rounds.end(self.seconds, self._marked_rows / max(spent, 1e-9), rate)
            score = self._rounds.score(evaluated.scores)
            self._tell(replace(evaluated, ranks=tuple(self._strategy.gather(own))))
        self._save(score)
        self._mark, self._marked_rows = self._clock(), 0

    def _tell(self, evaluated: Evaluated) -> None:
        for listener in self._listeners:
            listener.on_event(evaluated)

    def _save(self, score: float | None) -> None:
        """Save a snapshot, unless this step is saved already. Raises `Mistakes` if a loss was not finite."""
        if self._saved_step == self._state.progress.step:
            return
        self._finite.check(self._plan.steps_per_epoch)
        before, asked = self._clock(), self._saving.saves()
        parts = self._strategy.gather(self._state.metrics.tensors())
        if self._saving.checkpoints is not None:
            self._saving.checkpoints.save(self._state.capture(self.seconds, score, parts))
        self._saved, self._saved_step, self._asked = self._clock(), self._state.progress.step, asked
        # The time of the copy does not count as time of the steps.
        self._mark += self._saved - before
