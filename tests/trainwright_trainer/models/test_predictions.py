from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
import torch

from trainwright_api.config import ModelConfig, resolve
from trainwright_trainer.layers.steps import Steps
from trainwright_trainer.models.predictions import prediction_table

STATISTICS: dict[str, dict[str, Any]] = {
    "n": {"normalization": "zscore", "shift": 10.0, "scale": 2.0},
    "b": {"true": "late", "false": "on time"},
    "c": {"vocabulary": ["x", "y", "z"]},
    "v": {"size": 2},
    "s": {"vocabulary": ["<UNK>", "x", "y"]},
}


def table(feature: dict[str, Any], logits: torch.Tensor | Steps, top_k: int | None = None) -> pa.Table:
    given = {"input_features": [{"name": "a", "type": "number"}], "output_features": [feature]}
    config = resolve(ModelConfig.model_validate(given))
    return prediction_table(config, STATISTICS, {feature["name"]: logits}, top_k)


def test_a_number_is_in_its_own_units_and_clipped() -> None:
    found = table({"name": "n", "type": "number", "clip": [0, 12]}, torch.tensor([-1.0, 5.0]))
    assert found.to_pydict() == {"n_predictions": [8.0, 12.0]}
    assert found.schema.field("n_predictions").type == pa.float64()


def test_a_binary_has_its_labels_and_the_probability_of_the_predicted_one() -> None:
    found = table({"name": "b", "type": "binary"}, torch.tensor([0.0, -1.0]).requires_grad_()).to_pydict()
    assert found["b_predictions"] == ["late", "on time"]
    assert found["b_probabilities_late"] == pytest.approx([0.5, 0.2689414])
    assert found["b_probabilities_on time"] == pytest.approx([0.5, 0.7310586])
    assert found["b_probability"] == pytest.approx([0.5, 0.7310586])


def test_the_threshold_moves_the_label_alone() -> None:
    found = table({"name": "b", "type": "binary", "threshold": 0.6}, torch.tensor([0.0])).to_pydict()
    assert found["b_predictions"] == ["on time"]
    assert found["b_probability"] == [0.5]


def test_a_category_has_a_column_for_each_class() -> None:
    logits = torch.log(torch.tensor([[1.0, 2.0, 1.0], [6.0, 2.0, 2.0]]))
    found = table({"name": "c", "type": "category"}, logits).to_pydict()
    assert list(found) == [
        "c_predictions",
        "c_probability",
        "c_probabilities_x",
        "c_probabilities_y",
        "c_probabilities_z",
    ]
    assert found["c_predictions"] == ["y", "x"]
    assert found["c_probability"] == pytest.approx([0.5, 0.6])
    assert found["c_probabilities_z"] == pytest.approx([0.25, 0.2])


@pytest.mark.parametrize("k", [1, 2, 9])
def test_top_k_is_the_likeliest_classes_in_their_order(k: int) -> None:
    logits = torch.log(torch.tensor([[1.0, 2.0, 1.0], [1.0, 2.0, 7.0]], dtype=torch.float64))
    found = table({"name": "c", "type": "category"}, logits, k).to_pydict()
    assert found["c_top_k_predictions"] == [["y", "x", "z"][:k], ["z", "y", "x"][:k]]
    assert found["c_top_k_probabilities"] == [pytest.approx([0.5, 0.25, 0.25][:k]), pytest.approx([0.7, 0.2, 0.1][:k])]
    whole = table({"name": "c", "type": "category"}, logits).to_pydict()
    assert list(found) == [*list(whole)[:2], "c_top_k_predictions", "c_top_k_probabilities"]
    assert all(found[name] == whole[name] for name in list(whole)[:2])


def test_a_vector_is_a_list() -> None:
    found = table({"name": "v", "type": "vector"}, torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.bfloat16))
    assert found.to_pydict() == {"v_predictions": [[1.0, 2.0], [3.0, 4.0]]}


def test_a_set_is_the_list_of_its_likely_tokens() -> None:
    logits = torch.logit(torch.tensor([[0.1, 0.9, 0.5], [0.2, 0.4, 0.3]], dtype=torch.float64))
    found = table({"name": "s", "type": "set"}, logits).to_pydict()
    assert found["s_predictions"] == [["x", "y"], []]
    assert found["s_probabilities"] == [pytest.approx([0.9, 0.5]), []]
    assert table({"name": "s", "type": "set", "threshold": 0.95}, logits).to_pydict()["s_predictions"] == [[], []]


def test_a_sequence_is_the_list_of_its_tokens() -> None:
    logits = torch.log(torch.tensor([[[0.1, 0.8, 0.1], [0.2, 0.3, 0.5]], [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3]]]))
    found = table({"name": "s", "type": "sequence"}, Steps(logits, torch.tensor([2, 0]))).to_pydict()
    assert found["s_predictions"] == [["x", "y"], []]
    assert found["s_probabilities"] == [pytest.approx([0.8, 0.5]), []]
    assert found["s_probability"] == pytest.approx([0.4, 1.0])


def test_no_rows_are_an_empty_table() -> None:
    assert table({"name": "c", "type": "category"}, torch.empty(0, 3)).num_rows == 0
