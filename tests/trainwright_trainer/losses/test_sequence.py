from __future__ import annotations

import torch
import torch.nn.functional as F

from trainwright_api.config.losses import SequenceSoftmaxCrossEntropy as Config
from trainwright_trainer.losses.sequence import SequenceSoftmaxCrossEntropy

LOGITS = torch.randn(3, 4, 3, dtype=torch.float64)
TARGETS = torch.tensor([[0, 2, 1, 1], [-1, -1, -1, -1], [2, -1, -1, -1]])


def rows(**config: object) -> torch.Tensor:
    loss = SequenceSoftmaxCrossEntropy(Config.model_validate(config), ["<UNK>", "x", "<EOS>"], "loss").double()
    return loss.rows(LOGITS, TARGETS)


def test_a_row_is_the_sum_over_its_tokens() -> None:
    terms = F.cross_entropy(LOGITS.transpose(1, 2), TARGETS, ignore_index=-1, reduction="none")
    torch.testing.assert_close(rows(), terms.sum(1))
    assert rows()[1] == 0


def test_tokens_have_weights_and_the_end_need_not_be_named() -> None:
    weights = torch.tensor([1.0, 3.0, 1.0], dtype=torch.float64)
    terms = F.cross_entropy(LOGITS.transpose(1, 2), TARGETS, weights, ignore_index=-1, reduction="none")
    torch.testing.assert_close(rows(class_weights={"x": 3.0}), terms.sum(1))


def test_the_penalties_are_those_of_classes_for_each_token() -> None:
    assert (rows(robust_lambda=0.3) != rows())[[0, 2]].all()
    assert rows(confidence_penalty=0.5)[0] > rows()[0]
    assert rows(robust_lambda=0.3, confidence_penalty=0.5)[1] == 0
