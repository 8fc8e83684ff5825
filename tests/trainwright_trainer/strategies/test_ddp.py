"""The numbers that travel with DDP's gradients. Its training is tested in tests/laws."""

from __future__ import annotations

from unittest.mock import patch

import pytest
import torch
from tests.ranks import on_ranks

from trainwright_api.config.trainer import TrainerConfig
from trainwright_trainer.distributed.process_group import ProcessGroup
from trainwright_trainer.strategies.ddp import MOST_NUMBERS, Ddp

from .weighted import Weighted


def engine_of_this_rank() -> Ddp:
    section = TrainerConfig.model_validate({"optimizer": {"type": "sgd"}, "gradient_clipping": None})
    return Ddp(Weighted(), section, 0.1, ProcessGroup())


def summed(count: int) -> tuple[list[list[float]], str, int]:
    """The sums of two steps of two passes each, their dtype, and the collectives that were started for them."""
    engine = engine_of_this_rank()
    rank, found = engine.ranks.rank, []
    with patch.object(ProcessGroup, "start_sum", autospec=True, side_effect=ProcessGroup.start_sum) as started:
        for step in (1.0, 2.0):
            engine.accumulate(engine.forward(torch.ones(2), last=False)["y"].sum())
            logits = engine.forward(torch.ones(2), last=True)["y"]
            sums = engine.start_sum(torch.full((count,), step + rank, dtype=torch.float64))
            engine.accumulate(logits.sum())
            total = sums()
            found.append(total.tolist())
            engine.update(0.1)
    return found, str(total.dtype), started.call_count


@pytest.mark.parametrize(("count", "collectives"), [(1, 0), (MOST_NUMBERS, 0), (MOST_NUMBERS + 1, 2)])
def test_few_numbers_need_no_collective(count: int, collectives: int) -> None:
    expected = [[1.0 + 2.0 + 3.0] * count, [2.0 + 3.0 + 4.0] * count]
    assert on_ranks(3, summed, count) == [(expected, "torch.float64", collectives)] * 3


def trained() -> tuple[list[float], list[str]]:
    engine = engine_of_this_rank()
    logits = engine.forward(torch.ones(2), last=True)["y"]
    engine.start_sum(torch.ones(3))
    engine.accumulate(logits.sum())
    engine.update(0.1)
    return engine.weights()["weight"].data.tolist(), sorted(engine.weights())


def test_the_numbers_are_no_part_of_the_model() -> None:
    for weights, names in on_ranks(2, trained):
        assert weights == pytest.approx([0.8, 0.8])
        assert names == ["weight"]
