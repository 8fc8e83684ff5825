from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from trainwright_api.config.losses import SigmoidCrossEntropy as Config
from trainwright_api.problems import Mistakes
from trainwright_trainer.losses.sigmoid import SigmoidCrossEntropy

LOGITS = torch.tensor([[-2.0, 0.0, 3.0], [1.0, 2.0, -1.0]], dtype=torch.float64)
TARGETS = torch.tensor([[0.0, 1.0, 1.0], [0.0, 0.0, 0.0]], dtype=torch.float64)
TERMS = F.binary_cross_entropy_with_logits(LOGITS, TARGETS, reduction="none")
LABELS = ["<UNK>", "x", "y"]


def rows(**config: object) -> torch.Tensor:
    return SigmoidCrossEntropy(Config.model_validate(config), LABELS, "loss").double().rows(LOGITS, TARGETS)


def test_a_row_is_the_mean_over_the_tokens() -> None:
    torch.testing.assert_close(rows(), TERMS.mean(1))


@pytest.mark.parametrize("weights", [[1.0, 2.0, 0.5], {"x": 2.0, "y": 0.5}])
def test_a_weight_multiplies_the_term_of_its_token(weights: object) -> None:
    torch.testing.assert_close(rows(class_weights=weights), (TERMS * torch.tensor([1.0, 2.0, 0.5])).mean(1))


def test_weights_of_other_tokens_are_a_mistake() -> None:
    with pytest.raises(Mistakes, match=r"loss.class_weights: lists 2 weights for 3 classes: <UNK>, x, y"):
        rows(class_weights=[1.0, 2.0])
