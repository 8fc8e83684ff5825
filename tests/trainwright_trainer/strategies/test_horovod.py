"""The edges of Horovod's engine. Its training is tested in tests/laws."""

from __future__ import annotations

import horovod.torch as hvd
import pytest
import torch
from horovod.common.exceptions import HorovodInternalError
from tests.ranks import on_ranks
from torch import nn

from trainwright_api.resource.strategy import Strategy
from trainwright_trainer.distributed.process_group import ProcessGroup
from trainwright_trainer.distributed.ranks import OneRank
from trainwright_trainer.strategies import engine_for
from trainwright_trainer.strategies.horovod import GROUP_BYTES, address_here, connect, groups_of
from trainwright_trainer.strategies.single import Single


def parameter(size: int, dtype: torch.dtype = torch.float32) -> nn.Parameter:
    return nn.Parameter(torch.empty(size, dtype=dtype, device="meta"))


def test_groups_begin_with_the_last_parameter_and_have_one_size_and_dtype():
    half = GROUP_BYTES // 8  # elements of four bytes
    sizes = {"a": 1, "b": half, "c": half, "d": 2 * half, "e": 1}
    named = {name: parameter(size) for name, size in sizes.items()} | {"f": parameter(1, torch.float64)}
    names = {id(one): name for name, one in named.items()}
    assert [[names[id(one)] for one in group] for group in groups_of(named)] == [["f"], ["e", "d"], ["c", "b"], ["a"]]


def test_one_process_needs_no_horovod():
    assert engine_for(Strategy.model_validate({"type": "horovod"}), OneRank()) is Single


HOROVODRUN = {"HOROVOD_HOSTNAME": "server1", "HOROVOD_LOCAL_SIZE": "2"}


@pytest.mark.parametrize(
    ("launcher", "address"),
    [
        ({}, "127.0.0.1"),
        ({"MASTER_ADDR": "head"}, "head"),
        ({**HOROVODRUN, "HOROVOD_SIZE": "2"}, "127.0.0.1"),
        ({**HOROVODRUN, "HOROVOD_SIZE": "4"}, "server1"),
        ({**HOROVODRUN, "HOROVOD_SIZE": "4", "MASTER_ADDR": "head"}, "head"),
    ],
)
def test_the_others_find_rank_0_on_its_machine(monkeypatch, launcher, address):
    for name in ("MASTER_ADDR", "HOROVOD_HOSTNAME", "HOROVOD_LOCAL_SIZE", "HOROVOD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in launcher.items():
        monkeypatch.setenv(name, value)
    assert address_here() == address


def lost() -> str:
    ranks = ProcessGroup()
    connect(ranks)
    if ranks.rank == 1:
        ranks.abort()
        return "gone"
    try:
        hvd.allreduce(torch.ones(2), name="lost")
    except HorovodInternalError:
        return "alone"
    return "together"


def test_a_rank_that_gives_up_is_missed_at_once():
    assert on_ranks(2, lost) == ["alone", "gone"]


def connected_twice() -> list[float]:
    ranks, found = ProcessGroup(), []
    for _ in range(2):
        connect(ranks)
        found.append(float(hvd.allreduce(torch.tensor(float(ranks.rank)), op=hvd.Sum, name="once")))
        hvd.shutdown()
    return found


def test_it_connects_again_after_an_end():
    assert on_ranks(3, connected_twice) == [[3.0, 3.0]] * 3
