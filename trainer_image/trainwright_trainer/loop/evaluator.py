"""What happens at the end of a round: scores of the splits, the best weights, the plateau."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trainwright_api.config.trainer import LearningRateScheduler, TrainerConfig
from trainwright_trainer.callbacks.events import Evaluated, Scores
from trainwright_trainer.loader.materialised import Split
from trainwright_trainer.loop.evaluation import evaluate, scores_of_all
from trainwright_trainer.loop.monitor import MonitoredMetric, score_of
from trainwright_trainer.loop.protocols import Metrics
from trainwright_trainer.loop.state import State, copied
from trainwright_trainer.strategies.interface import Strategy

# Ludwig's words for the splits, and ours.
_SPLITS = {"training": "train", "validation": "validation", "test": "test"}


@dataclass(frozen=True)
class Evaluator:
    """Evaluates and decides. `metrics` is for whole passes; the running scores of training are `state.metrics`.

    `score_attribute`: the checkpoint policy's.
    """

    state: State
    trainer: TrainerConfig
    splits: Mapping[str, Split]
    metrics: Metrics
    plateau_of: MonitoredMetric
    eval_batch_size: int
    strategy: Strategy
    score_attribute: str

    def end(self, seconds: float, rows_per_second: float, learning_rate: float) -> Evaluated:
        """Scores this round and remembers what follows from it. Leaves the model in training mode."""
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
        """Of the round's checkpoint. Test rows are measured only where the policy names them."""
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
