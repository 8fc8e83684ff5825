"""The edges of DeepSpeed's engine. Its training is tested in tests/laws."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
import torch
from tests.ranks import on_ranks
from torch import nn

from trainwright_api.config.trainer import TrainerConfig
from trainwright_api.resource.strategy import Strategy
from trainwright_trainer.distributed.process_group import ProcessGroup
from trainwright_trainer.strategies.deepspeed import Deepspeed, _local_rank

OF_MPI = "OMPI_COMM_WORLD_LOCAL_RANK"


@pytest.mark.parametrize(
    ("device", "launcher", "found"),
    [
        ("cuda:1", {}, {"LOCAL_RANK": "1"}),
        ("cuda:0", {"LOCAL_RANK": "3"}, {"LOCAL_RANK": "0"}),
        ("cuda:0", {OF_MPI: "3"}, {"LOCAL_RANK": "0", OF_MPI: "0"}),
        ("cpu", {}, {"LOCAL_RANK": "0"}),
        ("cpu", {"LOCAL_RANK": "3"}, {"LOCAL_RANK": "3"}),
        ("cpu", {OF_MPI: "3"}, {"LOCAL_RANK": "3", OF_MPI: "3"}),
    ],
)
def test_it_takes_the_gpu_of_the_rank_and_not_that_of_the_launcher(
    device: str, launcher: dict[str, str], found: dict[str, str]
) -> None:
    assert _local_rank(torch.device(device), launcher) == found


AGAIN_AND_AGAIN = """
import json, trainwright
job = json.load(open("job.yaml"))
for number, word in enumerate(("local", "deepspeed", "deepspeed")):
    result = trainwright.train({**job, "backend": {"type": word}}, output=f"out{number}", quiet=True)
    print(result.test["late"]["loss"])
"""


def test_a_process_alone_trains_again_and_again(workplace: Any) -> None:
    """No launcher has initialised a process group, and DeepSpeed keeps the one that it has found."""
    workplace.job()
    ended = workplace.python(AGAIN_AND_AGAIN)
    assert (ended.code, ended.err) == (0, "")
    plain, first, second = map(float, ended.out.split())
    assert first == second
    assert first == pytest.approx(plain, rel=1e-5)


class Layers(nn.Module):
    """Two layers without memory, and one with values, as that of a pretrained encoder."""

    whole: ClassVar[list[int]] = []
    """The number of drawn parameters that are whole, each time before the next one is drawn."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 4, bias=False, device="meta")
        self.second = nn.Linear(4, 2, bias=False, device="meta")
        self.given = nn.Linear(2, 3, bias=False)
        nn.init.constant_(self.given.weight, 3.0)

    def initial_weights(self) -> Iterator[tuple[str, torch.Tensor]]:
        for name, value in (("first.weight", 1.0), ("second.weight", 2.0)):
            self.whole.append(
                sum(one.numel() > 0 and not one.is_meta for one in (self.first.weight, self.second.weight))
            )
            if self.get_parameter(name).is_meta:
                yield name, torch.full(self.get_parameter(name).shape, value)


def shards_at_the_start() -> tuple[int, dict[str, list[float]]]:
    section = Strategy.model_validate({"type": "deepspeed", "zero_optimization": {"stage": 3}})
    trainer = TrainerConfig.model_validate({"precision": "float32", "optimizer": {"type": "adam"}})
    model: Any = Layers()
    engine = Deepspeed(section, model, trainer, 0.1, ProcessGroup())
    return max(Layers.whole), {name: block.data.tolist() for name, block in engine.weights().items()}


def test_stage_3_shards_each_parameter_before_it_draws_the_next() -> None:
    for whole, shards in on_ranks(2, shards_at_the_start):
        assert whole == 0
        assert shards == {"first.weight": [1.0] * 8, "second.weight": [2.0] * 4, "given.weight": [3.0] * 3}
