"""Simple models on the same split: a linear model and boosted trees of scikit-learn (extra `report`).

They learn from the encoded inputs of the training rows and are scored by our own metrics on all test rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from trainwright_api.problems import Mistakes
from trainwright_trainer.analysis.design_matrix import Design, Matrices, design_of
from trainwright_trainer.analysis.subject import Subject
from trainwright_trainer.data.order import Purpose, hashes, key
from trainwright_trainer.data.prepared import TEST, TRAIN
from trainwright_trainer.loader.layout import layout_of
from trainwright_trainer.models.targets import targets_of
from trainwright_trainer.models.units import softmax_waits

MOST_ROWS = 50_000
MOST_CELLS = 5_000_000
MOST_CLASSES = 20
"""Boosted trees grow a forest for each class."""
MOST_STEPS = 300
"""Steps of the solver of logistic regression. It stops there without an error."""
TEST_ROWS = 65_536
LINEAR, TREES = "linear model", "boosted trees"
_SMALLEST = 1e-300

Array = npt.NDArray[Any]
Scores = Mapping[str, float]


def check_baselines(wanted: bool) -> None:
    """Raise `Mistakes` if baselines are wanted and scikit-learn is not installed."""
    if wanted and find_spec("sklearn") is None:
        raise Mistakes.one("report.baselines", "needs scikit-learn: install trainwright[report], or set it to false")


def baselines(subject: Subject) -> dict[str, dict[str, Scores]]:
    """The test scores of the baselines, by output and name. Types of outputs that they do not have are left out.

    They compute with one thread: on so few rows, more threads mostly wait for each other.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        return _baselines(subject)


def _baselines(subject: Subject) -> dict[str, dict[str, Scores]]:
    rows = _training_rows(subject)
    if not len(rows) or not len(subject.data.rows_of(TEST)):
        return {}
    design = design_of(subject, rows)
    learner = _Learner(design.of(rows), design.categories(), subject.seed % 2**32)
    targets = {name: values.numpy() for name, values in _targets(subject, rows).items()}
    models = {
        feature.name: learner.models(feature.type, targets[feature.name])
        for feature in subject.config.output_features
        if feature.type in _KINDS
    }
    return {name: scores for name, scores in _scored(subject, design, models).items() if scores}


def _training_rows(subject: Subject) -> npt.NDArray[np.int64]:
    """A sample of the training rows, which ascend; the number of inputs limits them."""
    rows = subject.data.rows_of(TRAIN)
    layout = layout_of(subject.config, subject.data.statistics)
    most = min(MOST_ROWS, MOST_CELLS // max(1, layout.float_width + layout.int_width))
    order = np.argsort(hashes(key(subject.seed, Purpose.REPORT, TRAIN), rows), kind="stable")
    return np.sort(rows[order[:most]])


def _targets(subject: Subject, rows: npt.NDArray[np.int64]) -> dict[str, torch.Tensor]:
    layout, statistics = layout_of(subject.config, subject.data.statistics), subject.data.statistics
    batch = subject.dense(rows)
    return {
        feature.name: targets_of(feature, statistics[feature.name], layout.columns[feature.name])(batch).cpu()
        for feature in subject.config.output_features
        if feature.type in _KINDS
    }


@dataclass(frozen=True)
class _Learner:
    """Trains the models on the rows of `rows`. `is_category`: the dense columns whose values are categories."""

    rows: Matrices
    is_category: Array
    seed: int

    def models(self, type_: str, targets: Array) -> dict[str, Any]:
        """The trained models by name; none if there is one class."""
        if type_ in ("number", "vector"):
            return self._regressors(targets, has_trees=type_ == "number")
        labels = targets > 0.5 if type_ == "binary" else targets
        classes = len(np.unique(labels))
        return self._classifiers(labels, has_trees=classes <= MOST_CLASSES) if classes > 1 else {}

    def _classifiers(self, labels: Array, *, has_trees: bool) -> dict[str, Any]:
        from sklearn.ensemble import HistGradientBoostingClassifier
        from sklearn.linear_model import LogisticRegression

        found = {LINEAR: LogisticRegression(max_iter=MOST_STEPS).fit(self.rows.sparse, labels)}
        if has_trees:
            trees = HistGradientBoostingClassifier(categorical_features=self.is_category, random_state=self.seed)
            found[TREES] = trees.fit(self.rows.dense, labels)
        return found

    def _regressors(self, targets: Array, *, has_trees: bool) -> dict[str, Any]:
        from sklearn.ensemble import HistGradientBoostingRegressor
        from sklearn.linear_model import Ridge

        found = {LINEAR: Ridge().fit(self.rows.sparse, targets)}
        if has_trees:
            trees = HistGradientBoostingRegressor(categorical_features=self.is_category, random_state=self.seed)
            found[TREES] = trees.fit(self.rows.dense, targets)
        return found


def _scored(subject: Subject, design: Design, models: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Scores]]:
    metrics = {(output, name): subject.new_metrics().outputs[output] for output in models for name in models[output]}
    for rows in _test_rows(subject):
        part, targets = design.of(rows), _targets(subject, rows)
        for (output, name), state in metrics.items():
            model = models[output][name]
            logits = _KINDS[state.feature.type](model, part.dense if name == TREES else part.sparse, state)
            state.update(torch.from_numpy(logits), targets[output], torch.zeros(len(rows), dtype=torch.float64))
    found: dict[str, dict[str, Scores]] = {output: {} for output in models}
    for (output, name), state in metrics.items():
        found[output][name] = {metric: value for metric, value in state.compute().items() if metric != "loss"}
    return found


def _test_rows(subject: Subject) -> Iterator[npt.NDArray[np.int64]]:
    rows = subject.data.rows_of(TEST)
    for start in range(0, len(rows), TEST_ROWS):
        yield rows[start : start + TEST_ROWS]


def _log_odds(model: Any, columns: Any, _: Any) -> Array:
    """float64 [rows]."""
    positive: Array = np.clip(model.predict_proba(columns)[:, 1], _SMALLEST, 1 - 1e-16)
    odds: Array = np.log(positive / (1 - positive))
    return odds


def _log_shares(model: Any, columns: Any, state: Any) -> Array:
    """float64 [rows, classes]. Classes that no training row has are impossible."""
    shares = model.predict_proba(columns)
    found = np.full((len(shares), len(state.statistics["vocabulary"])), np.log(_SMALLEST))
    found[:, model.classes_] = np.log(np.maximum(shares, _SMALLEST))
    return found


def _values(model: Any, columns: Any, _: Any) -> Array:
    return np.asarray(model.predict(columns), dtype=np.float64)


def _vectors(model: Any, columns: Any, state: Any) -> Array:
    """float64 [rows, size]. Where predictions are the softmax of the logits, the logarithms of the values."""
    values = _values(model, columns, state)
    return np.log(np.maximum(values, _SMALLEST)) if softmax_waits(state.feature) else values


_KINDS = {"binary": _log_odds, "category": _log_shares, "number": _values, "vector": _vectors}
"""Predictions in the form of a model's logits, by type of output."""
