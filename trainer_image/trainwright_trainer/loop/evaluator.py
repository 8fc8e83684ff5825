"""Evaluation: the scores of a split, and the end of an evaluation round in training."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

import torch

from trainwright_api.config.trainer import LearningRateScheduler, TrainerConfig
from trainwright_trainer.callbacks.events import Evaluated, Scores
from trainwright_trainer.loader.materialised import Split, moved
from trainwright_trainer.loop.monitor import MonitoredMetric, score_of
from trainwright_trainer.loop.protocols import Metrics, Trainable
from trainwright_trainer.loop.state import TrainState, copied
from trainwright_trainer.strategies.interface import Strategy
from trainwright_trainer.strategies.single import Single

# Ludwig's names for the splits → ours.
_SPLITS = {"training": "train", "validation": "validation", "test": "test"}


@dataclass(frozen=True)
class Evaluator:
    """Evaluates the model at the end of a round and updates `state`.

    `metrics` is used for passes over a whole split; `state.metrics` holds the running scores of training.
    `score_attribute` comes from the checkpoint policy.
    """

    state: TrainState
    trainer: TrainerConfig
    splits: Mapping[str, Split]
    metrics: Metrics
    plateau_of: MonitoredMetric
    eval_batch_size: int
    strategy: Strategy
    score_attribute: str

    def end(self, seconds: float, rows_per_second: float, learning_rate: float) -> Evaluated:
        """Score this round and update the best weights, the plateau and the history.

        `seconds` of training so far, over all attempts. Leaves the model in training mode.
        """
        scores = self._scores()
        progress = self.state.progress
        best = self._observe(scores)
        self.state.plateau.observe(self.plateau_of.of(self._plateau_scores(scores)))
        self.state.metrics.reset()
        self.state.model.train()
        evaluated = Evaluated(progress.epoch, progress.step, seconds, rows_per_second, learning_rate, scores, best)
        progress.history.append(evaluated)
        return evaluated

    def score(self, scores: Mapping[str, Scores]) -> float | None:
        """The score of the round's checkpoint. The test split is evaluated only if the policy names it."""
        if self.score_attribute.startswith("test.") and self._has("test"):
            scores = {**scores, "test": self._evaluated("test")}
            self.state.model.train()
        return score_of(self.score_attribute, scores)

    def _scores(self) -> dict[str, Scores]:
        whole = self.trainer.evaluate_training_set
        train = self._evaluated("train") if whole else scores_of_all(self.state.metrics, self.strategy)
        return {"train": train} | ({"validation": self._evaluated("validation")} if self._has("validation") else {})

    def _has(self, split: str) -> bool:
        return split in self.splits and len(self.splits[split]) > 0

    def _evaluated(self, split: str) -> Scores:
        return evaluate(
            self.state.model,
            self.splits[split],
            self.eval_batch_size,
            self.metrics,
            strategy=self.strategy,
            steps=self.trainer.eval_steps,
        )

    def _observe(self, scores: Mapping[str, Scores]) -> bool:
        best, progress = self.state.best, self.state.progress
        if "validation" in scores:
            value = best.monitored.of(scores["validation"])
            improved = best.observe(value, progress.step, progress.epoch)
        else:
            best.take(progress.step, progress.epoch)
            improved = True
        if improved:
            best.weights = copied(self.state.model.state_dict())
        return improved

    def _plateau_scores(self, scores: Mapping[str, Scores]) -> Scores:
        section = self.trainer.learning_rate_scheduler or LearningRateScheduler()
        split = _SPLITS[section.reduce_eval_split]
        if not section.reduce_on_plateau:
            return {}
        if split == "test" and self._has(split):
            return self._evaluated(split)
        return scores.get(split, {})


def evaluate(
    model: Trainable,
    split: Split,
    eval_batch_size: int,
    metrics: Metrics,
    *,
    strategy: Strategy | None = None,
    steps: int | None = None,
) -> Scores:
    """The scores of all rows of `split`, or of its first `steps` batches. Leaves the model in evaluation mode.

    Each rank evaluates its share of the batches; the batches are the same for any number of ranks. Afterwards `metrics`
    on rank 0 hold all rows.
    """
    metrics.reset()
    model.eval()
    strategy = strategy or Single()
    batches = math.ceil(len(split) / eval_batch_size)
    batches = batches if steps is None else min(batches, steps)
    first, last = (batches * rank // strategy.world for rank in (strategy.rank, strategy.rank + 1))
    with torch.inference_mode():
        for batch in islice(split.batches(eval_batch_size), first, last):
            there = moved(batch, strategy.device)
            logits = model(there)
            metrics.update(logits, model.losses(logits, there), there)
    return scores_of_all(metrics, strategy)


def scores_of_all(metrics: Metrics, strategy: Strategy) -> Scores:
    """The scores of all ranks' rows, bit for bit equal on each rank. Afterwards `metrics` on rank 0 hold all rows."""
    if strategy.world == 1:
        return metrics.compute()
    parts = strategy.gather(metrics.tensors())
    if parts:
        metrics.reset()
    for part in parts:
        metrics.add(part)
    return strategy.share(metrics.compute() if parts else {})
