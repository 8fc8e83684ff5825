"""Evaluation: the scores of a split, and the end of an evaluation round in training."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from trainwright_api.config.trainer import LearningRateScheduler, TrainerConfig
from trainwright_trainer.callbacks.events import Evaluated, Scores
from trainwright_trainer.distributed.ranks import OneRank, Ranks
from trainwright_trainer.loader.interface import Loader
from trainwright_trainer.loop.monitor import SPLITS, MonitoredMetric, score_of
from trainwright_trainer.loop.protocols import Metrics
from trainwright_trainer.loop.state import TrainState
from trainwright_trainer.models.trainable import Trainable
from trainwright_trainer.models.without_gradients import without_gradients


@dataclass(frozen=True)
class Evaluator:
    """Evaluates the model at the end of a round and updates `state`.

    `metrics` is used for passes over a whole split; `state.metrics` holds the running scores of training.
    `score_attribute` comes from the checkpoint policy.
    """

    state: TrainState
    trainer: TrainerConfig
    loaders: Mapping[str, Loader]
    metrics: Metrics
    plateau_of: MonitoredMetric
    eval_batch_size: int
    ranks: Ranks
    score_attribute: str

    def end(self, seconds: float, rows_per_second: float, learning_rate: float) -> Evaluated:
        """Score this round and update the best weights, the plateau and the history.

        `seconds` of training so far, over all attempts. Leaves the model in training mode.
        """
        scores = self._scores()
        progress = self.state.progress
        best = self._observe(scores)
        self._observe_plateau(self._plateau_scores(scores))
        self.state.metrics.reset()
        self.state.engine.model.train()
        evaluated = Evaluated(progress.epoch, progress.step, seconds, rows_per_second, learning_rate, scores, best)
        progress.history.append(evaluated)
        return evaluated

    def score(self, scores: Mapping[str, Scores]) -> float | None:
        """The score of the round's checkpoint. The test split is evaluated only if the policy names it."""
        if self.score_attribute.startswith("test.") and self._has("test"):
            scores = {**scores, "test": self._evaluated("test")}
            self.state.engine.model.train()
        return score_of(self.score_attribute, scores)

    def _scores(self) -> dict[str, Scores]:
        whole = self.trainer.evaluate_training_set
        train = self._evaluated("train") if whole else scores_of_all(self.state.metrics, self.ranks)
        return {"train": train} | ({"validation": self._evaluated("validation")} if self._has("validation") else {})

    def _has(self, split: str) -> bool:
        return split in self.loaders and len(self.loaders[split]) > 0

    def _evaluated(self, split: str) -> Scores:
        return evaluate(
            self.state.engine.model,
            self.loaders[split],
            self.eval_batch_size,
            self.metrics,
            ranks=self.ranks,
            steps=self.trainer.eval_steps,
        )

    def _observe(self, scores: Mapping[str, Scores]) -> bool:
        best, progress = self.state.best, self.state.progress
        if "validation" in scores:
            best.monitored = best.monitored.defined_by(scores["validation"])
            value = best.monitored.of(scores["validation"])
            improved = best.observe(value, progress.step, progress.epoch)
        else:
            best.take(progress.step, progress.epoch)
            improved = True
        if improved:
            best.weights = self.state.weights()
        return improved

    def _observe_plateau(self, scores: Scores) -> None:
        monitored = self.plateau_of.defined_by(scores)
        self.state.plateau.observe(monitored.of(scores), monitored.direction)

    def _plateau_scores(self, scores: Mapping[str, Scores]) -> Scores:
        section = self.trainer.learning_rate_scheduler or LearningRateScheduler()
        split = SPLITS[section.reduce_eval_split]
        if not section.reduce_on_plateau:
            return {}
        if split == "test" and self._has(split):
            return self._evaluated(split)
        return scores.get(split, {})


def evaluate(
    model: Trainable,
    loader: Loader,
    eval_batch_size: int,
    metrics: Metrics,
    *,
    ranks: Ranks | None = None,
    steps: int | None = None,
) -> Scores:
    """The scores of all rows of `loader`, or of its first `steps` batches. Leaves the model in evaluation mode.

    Each rank evaluates its share of the batches; the batches are the same for any number of ranks. All ranks make the
    same number of forward passes. Afterwards `metrics` on rank 0 hold all rows.
    """
    metrics.reset()
    model.eval()
    ranks = ranks or OneRank()
    rows = len(loader) if steps is None else min(steps * eval_batch_size, len(loader))
    batches = math.ceil(rows / eval_batch_size)
    first, last = (batches * rank // ranks.world for rank in (ranks.rank, ranks.rank + 1))
    with without_gradients(ranks.world):
        for batch in loader.unordered(eval_batch_size, rows, first, last):
            logits = model(batch)
            metrics.update(logits, model.losses(logits, batch), batch)
        if last - first < math.ceil(batches / ranks.world):
            model(next(loader.sequential(1, 0, 1)))  # some engines exchange parameters in each forward pass
    return scores_of_all(metrics, ranks)


def scores_of_all(metrics: Metrics, ranks: Ranks) -> Scores:
    """The scores of all ranks' rows, bit for bit equal on each rank. Afterwards `metrics` on rank 0 hold all rows."""
    if ranks.world == 1:
        return metrics.compute()
    parts = ranks.gather(metrics.tensors())
    if parts:
        metrics.reset()
    for part in parts:
        metrics.add(part)
    return ranks.share(metrics.compute() if parts else {})
