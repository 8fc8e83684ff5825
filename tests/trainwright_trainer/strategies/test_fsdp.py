"""The edges of FSDP's engine. Its training is tested in tests/laws."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import torch
from tests.ranks import on_ranks
from tests.trainwright_trainer.strategies.weighted import Weighted

from trainwright_api.config.trainer import TrainerConfig
from trainwright_api.resource.strategy import Strategy
from trainwright_trainer.distributed.process_group import ProcessGroup
from trainwright_trainer.strategies import torch_engine
from trainwright_trainer.strategies.fsdp import Fsdp
from trainwright_trainer.strategies.precision import Precision


class WeightedBlocks(Weighted):
    def blocks(self) -> tuple[()]:
        return ()


class Scaled(Precision):
    """As on a GPU with float16 alone."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.scaler = torch.amp.GradScaler("cpu")


def after_a_step(batch: list[float]) -> tuple[float, list[float]]:
    """The scale, and this rank's shard of the weight."""
    section, trainer = Strategy(type="fsdp"), TrainerConfig.model_validate({"precision": "float32"})
    model: Any = WeightedBlocks()
    given: Any = torch.tensor(batch)
    with patch.object(torch_engine, "Precision", Scaled):
        engine = Fsdp(section, model, trainer, 0.1, ProcessGroup())
    engine.accumulate(engine.forward(given, last=True)["y"].sum())
    engine.update(0.1)
    assert engine._scaler is not None
    return engine._scaler.get_scale(), engine.weights()["weight"].data.tolist()


def test_every_rank_skips_a_step_whose_gradient_overflows_on_one() -> None:
    assert on_ranks(2, after_a_step, [1.0, 1e38]) == [(32768.0, [1.0]), (32768.0, [1.0])]


def test_a_step_without_overflow_is_done() -> None:
    for scale, [weight] in on_ranks(2, after_a_step, [1.0, 1.0]):
        assert scale == 65536.0
        assert weight < 1
