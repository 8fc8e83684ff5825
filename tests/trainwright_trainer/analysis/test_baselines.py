"""The baselines have the scores of scikit-learn's own pipelines on the raw table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import mean_absolute_error, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from trainwright_api.config.outputs import VectorOutput
from trainwright_api.problems import Mistakes
from trainwright_trainer.analysis import baselines as module
from trainwright_trainer.analysis.baselines import LINEAR, TREES, baselines, check_baselines
from trainwright_trainer.analysis.design_matrix import design_of
from trainwright_trainer.analysis.subject import Subject
from trainwright_trainer.data.prepared import TEST, TRAIN
from trainwright_trainer.models.units import vectors


@pytest.fixture(scope="module")
def table(data_file: Path) -> pd.DataFrame:
    return pd.read_csv(data_file)


def linear(model):
    encoding = make_column_transformer((OneHotEncoder(), ["kind"]), (StandardScaler(), ["x", "noise"]))
    return make_pipeline(encoding, model)


def trees(model):
    return make_pipeline(make_column_transformer((OrdinalEncoder(), ["kind"]), ("passthrough", ["x", "noise"])), model)


def test_their_scores_are_those_of_the_raw_table(subject: Subject, table: pd.DataFrame) -> None:
    found = baselines(subject)
    train, test = table.iloc[subject.data.rows_of(TRAIN)], table.iloc[subject.data.rows_of(TEST)]
    oracles = {LINEAR: linear(LogisticRegression()), TREES: trees(HistGradientBoostingClassifier(random_state=42))}
    for name, model in oracles.items():
        share = model.fit(train, train["y"]).predict_proba(test)[:, 1]
        assert found["y"][name]["roc_auc"] == pytest.approx(roc_auc_score(test["y"] == "yes", share), abs=0.015)
        assert found["y"][name]["accuracy"] == pytest.approx(np.mean((share >= 0.5) == (test["y"] == "yes")), abs=0.03)
    oracles = {LINEAR: linear(Ridge()), TREES: trees(HistGradientBoostingRegressor(random_state=42))}
    for name, model in oracles.items():
        error = mean_absolute_error(test["z"], model.fit(train, train["z"]).predict(test))
        assert found["z"][name]["mean_absolute_error"] == pytest.approx(error, rel=0.05)
    assert all("loss" not in scores for each in found.values() for scores in each.values())


def test_shares_are_predicted_as_they_are() -> None:
    """The metrics take the softmax of the logits of such an output."""
    feature = VectorOutput.model_validate({"name": "v", "softmax": True, "loss": {"type": "softmax_cross_entropy"}})
    shares = np.array([[0.25, 0.75], [0.5, 0.5]])
    model = SimpleNamespace(predict=lambda _: shares)
    logits = module._KINDS["vector"](model, None, SimpleNamespace(feature=feature))
    assert vectors(feature, logits) == pytest.approx(shares)


def test_they_follow_from_the_seed(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ROWS", 300)
    assert baselines(subject) == baselines(subject)
    assert baselines(subject) != baselines(replace(subject, seed=1))


def test_the_matrices_have_the_values_of_the_table(subject: Subject, table: pd.DataFrame) -> None:
    rows = subject.data.rows_of(TRAIN)
    design = design_of(subject, rows)
    found = design.of(rows)
    tokens = found.sparse[:, -3:].toarray()
    assert sorted(tokens.sum(0)) == sorted(table["words"].iloc[rows].str.contains(word).sum() for word in "abc")
    flags = found.sparse[:, 2:-3].toarray()
    assert (flags.sum(1) == 1).all()
    assert found.sparse[:, :2].toarray().std(0) == pytest.approx(1, rel=1e-4)
    assert design.categories().tolist() == [False, False, True, False, False, False]
    assert found.dense.shape == (len(rows), 6)


def test_one_class_is_not_learned(subject: Subject) -> None:
    data = subject.data
    labels = data.columns["y"].to_numpy()
    splits = np.where((data.splits == TRAIN) & (labels > 0.5), 3, data.splits).astype(np.uint8)
    found = baselines(replace(subject, data=replace(data, splits=splits)))
    assert "y" not in found
    assert set(found["z"]) == {LINEAR, TREES}


def test_without_scikit_learn_it_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    check_baselines(False)
    with pytest.raises(Mistakes, match=r"report\.baselines.*trainwright\[report\]"):
        check_baselines(True)
