from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.distributed.rank_info import RankInfo
from trainwright_trainer.errors import EnvironmentFailure, Outcome
from trainwright_trainer.tasks.launched_run import _ranks, join_seconds


def test_the_time_to_join_is_read_from_the_environment() -> None:
    assert join_seconds({}) == 300
    assert join_seconds({"TRAINWRIGHT_JOIN_SECONDS": "7"}) == 7


class Alone:
    """The rendezvous of a single process. It keeps what the process tells the others."""

    launch, world = SimpleNamespace(is_on_one_machine=False, launcher="torchrun"), 1

    def fail(self, outcome: Outcome) -> None:
        self.told = outcome


def test_a_rank_without_memory_tells_the_others_so() -> None:
    rendezvous: Any = Alone()
    with pytest.raises(EnvironmentFailure, match="out of memory"), _ranks(rendezvous, RankInfo(0, 1, "cpu", 1, None)):
        raise RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")
    assert (rendezvous.told.kind, rendezvous.told.line[:13]) == ("environment", "out of memory")


@pytest.mark.parametrize("text", ["0", "", "-1", "1.5", "soon", "²"])
def test_another_time_is_a_mistake(text: str) -> None:
    with pytest.raises(Mistakes, match="expected a whole number of seconds, from 1"):
        join_seconds({"TRAINWRIGHT_JOIN_SECONDS": text})
