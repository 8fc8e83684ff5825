from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from trainwright_api.config.features import NumberOutput, VectorOutput
from trainwright_trainer.models.units import numbers, probability, softmax, vectors

LOGITS = np.array([-800.0, -3.0, 0.0, 2.0, 800.0])


def test_probability_is_the_sigmoid_without_overflow() -> None:
    np.testing.assert_allclose(probability(LOGITS), torch.sigmoid(torch.from_numpy(LOGITS)), rtol=1e-14)


def test_probability_is_a_half_at_zero_exactly() -> None:
    assert probability(np.zeros(1, np.float32))[0] == 0.5


def test_softmax_without_overflow() -> None:
    logits = np.stack([LOGITS, LOGITS[::-1]])
    np.testing.assert_allclose(softmax(logits), torch.softmax(torch.from_numpy(logits), 1), rtol=1e-12)


@pytest.mark.parametrize(
    ("statistics", "expected"),
    [
        ({"normalization": "zscore", "shift": 10.0, "scale": 2.0}, [6.0, 10.0, 14.0]),
        ({"normalization": None, "shift": 0.0, "scale": 1.0}, [-2.0, 0.0, 2.0]),
        ({"normalization": "log1p", "shift": 0.0, "scale": 1.0}, np.expm1([-2.0, 0.0, 2.0])),
    ],
)
def test_numbers_are_in_the_columns_own_units(statistics: dict[str, Any], expected: list[float]) -> None:
    np.testing.assert_allclose(numbers(None, statistics, np.array([-2.0, 0, 2], np.float32)), expected)


def test_predicted_numbers_are_clipped_in_their_own_units() -> None:
    feature = NumberOutput(name="n", clip=(0.0, 11.0))
    statistics = {"normalization": "zscore", "shift": 10.0, "scale": 2.0}
    assert numbers(feature, statistics, np.array([-20.0, 0, 2])).tolist() == [0, 10, 11]


def test_the_softmax_of_a_vector_is_taken_once() -> None:
    logits = np.log([[1.0, 3.0]])
    plain = VectorOutput.model_validate({"name": "v", "type": "vector", "softmax": True})
    assert vectors(plain, logits).tolist() == logits.tolist()
    entropy = VectorOutput.model_validate({"name": "v", "softmax": True, "loss": {"type": "softmax_cross_entropy"}})
    np.testing.assert_allclose(vectors(entropy, logits), [[0.25, 0.75]])
