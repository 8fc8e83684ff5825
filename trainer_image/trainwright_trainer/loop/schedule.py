"""The length of a run in steps and the steps that end its evaluation rounds, computed before the first step."""

from __future__ import annotations

import math
from dataclasses import dataclass

from trainwright_api.config.trainer import TrainerConfig


@dataclass(frozen=True)
class RoundSchedule:
    """`rows` of the training split, cut into batches of `global_rows`. A round ends with an evaluation and a
    checkpoint."""

    rows: int
    global_rows: int
    total_steps: int
    steps_per_round: int

    @property
    def steps_per_epoch(self) -> int:
        return math.ceil(self.rows / self.global_rows)

    def ends_round(self, step: int) -> bool:
        """True if a round ends after `step` finished steps. The end of training always ends a round."""
        return step % self.steps_per_round == 0 or step == self.total_steps


def plan(trainer: TrainerConfig, rows: int, global_rows: int) -> RoundSchedule:
    """The schedule of a run. `train_steps` overrides `epochs`; a round is at most an epoch and at most the run."""
    steps = math.ceil(rows / global_rows)
    total = trainer.train_steps or trainer.epochs * steps
    return RoundSchedule(rows, global_rows, total, min(_steps_per_round(trainer, steps), total))


def _steps_per_round(trainer: TrainerConfig, steps_per_epoch: int) -> int:
    if trainer.checkpoints_per_epoch:
        return max(1, steps_per_epoch // trainer.checkpoints_per_epoch)
    return min(trainer.steps_per_checkpoint or steps_per_epoch, steps_per_epoch)
