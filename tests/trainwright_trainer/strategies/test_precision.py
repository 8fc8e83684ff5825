"""The precision of forward passes in training steps and in evaluation rounds."""

from __future__ import annotations

import pytest
import torch
from tests.laws.parity_job import Case, trained

from trainwright_api.config.trainer import TrainerConfig
from trainwright_trainer.distributed.ranks import OneRank
from trainwright_trainer.strategies.single import Single

SHORT = {"effective_batch_size": 64, "batch_size": 64, "train_steps": 20, "early_stop": -1, "precision": "float32"}


class Product(torch.nn.Module):
    """The logit of each row is its product with a weight of 1."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(1, 1))

    def forward(self, batch: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"y": batch @ self.weight}

    def initial_weights(self) -> tuple[()]:
        return ()

    def unit(self) -> str:
        return "minutes"


@pytest.mark.parametrize(("mixed", "found"), [(True, 1.0), (False, 1.001)])
def test_an_evaluation_computes_as_the_steps_do(*, mixed: bool, found: float) -> None:
    given = Product()
    engine = Single(given, TrainerConfig.model_validate({"use_mixed_precision": mixed}), 0.1, OneRank())
    row = torch.tensor([[1.001]])  # bfloat16 has three digits
    for logits in (engine.forward(row, last=True), engine.model(row)):
        assert logits["y"].dtype == torch.float32
        assert logits["y"].item() == pytest.approx(found, abs=1e-6)
    assert engine.model.unit() == "minutes"
    assert given(row)["y"].item() == pytest.approx(1.001)


def test_the_scores_of_rounds_have_the_tolerance_of_half_precision() -> None:
    fixed = {**SHORT, "learning_rate": 1e-9}  # so that the weights are the same
    full, mixed = (trained(Case({**fixed, "use_mixed_precision": mixed})) for mixed in (False, True))
    assert mixed.scores == pytest.approx(full.scores, rel=3e-2, abs=3e-2)
    assert [one.scores["validation"] for one in mixed.rounds] != [one.scores["validation"] for one in full.rounds]
