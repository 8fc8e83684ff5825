from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from trainwright_api.config.losses import BinaryWeightedCrossEntropy as Config
from trainwright_trainer.losses.binary import BinaryWeightedCrossEntropy

LOGITS = torch.tensor([-2.0, 0.0, 3.0], dtype=torch.float64)
TARGETS = torch.tensor([0.0, 1.0, 1.0], dtype=torch.float64)
PLAIN = F.binary_cross_entropy_with_logits(LOGITS, TARGETS, reduction="none")


def rows(config: Config, logits: torch.Tensor = LOGITS, targets: torch.Tensor = TARGETS) -> torch.Tensor:
    return BinaryWeightedCrossEntropy(config).to(logits.dtype).rows(logits, targets)


def test_plain() -> None:
    torch.testing.assert_close(rows(Config()), PLAIN)


def test_the_positive_class_weighs_more() -> None:
    torch.testing.assert_close(rows(Config(positive_class_weight=3.0)), PLAIN * torch.tensor([1, 3, 3]))


def test_robust_lambda_mixes_in_a_half() -> None:
    torch.testing.assert_close(rows(Config(robust_lambda=0.2)), 0.8 * PLAIN + 0.1)


def test_the_penalty_is_the_missing_share_of_the_largest_entropy() -> None:
    p = torch.sigmoid(LOGITS)
    entropy = -p * p.log() - (1 - p) * (1 - p).log()
    expected = PLAIN + 0.5 * (math.log(2) - entropy) / math.log(2)
    torch.testing.assert_close(rows(Config(confidence_penalty=0.5)), expected)


def test_the_penalty_is_finite_for_the_surest() -> None:
    logits = torch.tensor([-500.0, 500.0], requires_grad=True)
    found = rows(Config(confidence_penalty=1.0), logits, torch.tensor([0.0, 1.0]))
    torch.testing.assert_close(found.detach(), torch.ones(2))
    found.sum().backward()
    assert logits.grad is not None
    assert logits.grad.isfinite().all()
