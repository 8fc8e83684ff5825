from __future__ import annotations

import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from trainwright_api.config.losses import SoftmaxCrossEntropy as Config
from trainwright_api.problems import Mistakes
from trainwright_trainer.losses.softmax import SoftmaxCrossEntropy

LABELS = ["<UNK>", "cat", "dog"]
PATH = "config.output_features[0].loss"
LOGITS = torch.randn(5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
TARGETS = torch.tensor([0, 1, 2, 1, 0])
PLAIN = F.cross_entropy(LOGITS, TARGETS, reduction="none")


def rows(targets: torch.Tensor = TARGETS, **fields: Any) -> torch.Tensor:
    return SoftmaxCrossEntropy(Config(**fields), LABELS, PATH).double().rows(LOGITS, targets)


def test_plain() -> None:
    torch.testing.assert_close(rows(), PLAIN)


def test_class_weights_multiply_rows_and_are_no_weighted_mean() -> None:
    weights = torch.tensor([0.5, 1.0, 4.0], dtype=torch.float64)
    expected = PLAIN * weights[TARGETS]
    torch.testing.assert_close(rows(class_weights=[0.5, 1.0, 4.0]), expected)
    torch.testing.assert_close(rows(class_weights={"dog": 4.0, "<UNK>": 0.5, "cat": 1.0}), expected)
    torch.testing.assert_close(rows(class_weights={"dog": 4.0, "cat": 1.0})[1:4], expected[1:4])


def test_robust_lambda_mixes_in_one_share_of_the_classes() -> None:
    torch.testing.assert_close(rows(robust_lambda=0.3), 0.7 * PLAIN + 0.1)


def test_the_penalty_is_the_missing_share_of_the_largest_entropy() -> None:
    p = LOGITS.softmax(1)
    entropy = -(p * p.log()).sum(1)
    expected = PLAIN + 2 * (math.log(3) - entropy) / math.log(3)
    torch.testing.assert_close(rows(confidence_penalty=2.0), expected)


def test_similar_classes_share_a_target() -> None:
    similarities = [[1.0, 0, 0], [0, 1, 0.5], [0, 0.5, 1]]
    shares = torch.softmax(torch.tensor(similarities, dtype=torch.float64) / 0.5, 1)[TARGETS]
    expected = -(shares * LOGITS.log_softmax(1)).sum(1)
    given = {"class_similarities": similarities, "class_similarities_temperature": 0.5}
    torch.testing.assert_close(rows(**given), expected)
    torch.testing.assert_close(rows(**{**given, "class_similarities_temperature": 0.0}), PLAIN)


def test_similarities_spread_shares_as_they_spread_classes() -> None:
    given = {"class_similarities": [[1.0, 0, 0], [0, 1, 0.5], [0, 0.5, 1]], "class_similarities_temperature": 0.5}
    one_hot = torch.nn.functional.one_hot(TARGETS, 3).to(LOGITS.dtype)
    torch.testing.assert_close(rows(one_hot, **given), rows(**given))


def test_targets_may_be_shares() -> None:
    shares = torch.softmax(LOGITS.flip(0), 1)
    torch.testing.assert_close(rows(shares), -(shares * LOGITS.log_softmax(1)).sum(1))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"class_weights": [1.0, 2.0]}, r"class_weights: lists 2 weights for 3 classes: <UNK>, cat, dog\."),
        ({"class_weights": {"cats": 1.0, "dog": 1.0}}, r"class_weights\.cats: .* did you mean 'cat'\?"),
        ({"class_weights": {"cat": 1.0}}, r"class_weights: gives no weight to 'dog'\."),
        ({"class_similarities": [[1.0]], "class_similarities_temperature": 1.0}, "is not 3 rows of 3 numbers"),
        ({"class_similarities_temperature": 1.0}, "acts on class_similarities, and there are none"),
    ],
)
def test_what_does_not_fit_the_classes_is_a_mistake(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(Mistakes, match=rf"config\.output_features\[0\]\.loss.*{message}"):
        rows(**fields)
