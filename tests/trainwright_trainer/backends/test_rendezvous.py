"""Ranks that meet in one store, as threads of this process."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
import torch.distributed as dist

from trainwright_api.problems import Mistakes
from trainwright_trainer.backends.launchers import Launch
from trainwright_trainer.backends.rendezvous import Rendezvous, device_of
from trainwright_trainer.distributed.ranks import PeerLost
from trainwright_trainer.errors import AlreadyDone, EnvironmentFailure, Outcome

DONE = Outcome("done", "")


LAUNCH = Launch("torchrun", 0, 2, 0, 2, "here", 1)


@pytest.mark.parametrize("use_gpu", [None, False])
def test_a_process_without_a_gpu_trains_on_the_cpu_unless_the_file_asks_for_one(monkeypatch, use_gpu):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert device_of(LAUNCH, use_gpu) == torch.device("cpu")
    with pytest.raises(EnvironmentFailure, match="use_gpu asks for a GPU, and torch finds none here: "):
        device_of(LAUNCH, True)


def on_all(work, world=3):
    """The result of `work(rendezvous)` on each rank; an exception is a result too."""
    store = dist.HashStore()

    def one(rank):
        try:
            return work(Rendezvous(Launch("torchrun", rank, world, rank, world, "here", 1), store))
        except Exception as error:
            return error

    with ThreadPoolExecutor(world) as pool:
        return list(pool.map(one, range(world)))


def test_rank_0_judges_the_values_of_all():
    seen = []
    assert on_all(lambda rendezvous: rendezvous.agree("card", rendezvous.rank * 10, seen.append)) == [None] * 3
    assert seen == [[0, 10, 20]]


def refuse(values):
    raise Mistakes.one("dataset", f"{values[1]} differs")


def reporting(work):
    """`work` with the report of a failure, as the flow of a run makes it."""

    def reported(rendezvous):
        try:
            return work(rendezvous)
        except Exception as error:
            rendezvous.fail(Outcome.of(error))
            raise

    return reported


def test_what_rank_0_refuses_ends_all():
    found = on_all(reporting(lambda rendezvous: rendezvous.agree("card", rendezvous.rank, refuse)))
    assert [str(error) for error in found] == ["dataset: 1 differs"] * 3
    assert all(isinstance(error, Mistakes) for error in found)


def test_the_failure_of_another_rank_ends_a_wait():
    def work(rendezvous):
        if rendezvous.rank == 2:
            raise EnvironmentFailure("the disk is full")
        rendezvous.wait("never")

    found = on_all(reporting(work))
    assert [str(error) for error in found] == ["the disk is full"] * 3
    assert all(isinstance(error, EnvironmentFailure) for error in found)


def test_a_rank_that_does_not_join_is_named():
    def work(rendezvous):
        if rendezvous.rank != 1:
            rendezvous.agree("card", None, lambda _: None, seconds=0.2)

    first, absent, other = on_all(reporting(work))
    assert str(first) == str(other) == "rank 1 did not join within 0.2 s: see its output"
    assert absent is None


def test_all_end_with_the_outcome_of_rank_0():
    failed = Outcome("environment", "the store is away")
    found = on_all(lambda rendezvous: rendezvous.close(failed if rendezvous.rank == 0 else DONE))
    assert found == [failed] * 3


def test_rank_0_ends_last():
    left = threading.Semaphore(0)

    def work(rendezvous):
        end = rendezvous.close(DONE)
        if rendezvous.rank:
            left.release()
            return end
        return [left.acquire(timeout=30) for _ in range(2)]

    assert on_all(work)[0] == [True, True]


def test_a_run_that_is_done_already_ends_the_others_in_the_same_way():
    error = Outcome.of(AlreadyDone("it is done")).error()
    assert isinstance(error, AlreadyDone)
    assert str(error) == "it is done"


@pytest.mark.parametrize("value", [None, "SIGTERM (rank 1)"])
def test_a_value_that_a_rank_tells(value):
    def work(rendezvous):
        if value is not None and rendezvous.rank == 1:
            rendezvous.set("stop", value)
        rendezvous.agree("card", None, lambda _: None)
        return rendezvous.get("stop")

    assert on_all(work) == [value] * 3


@pytest.mark.parametrize(
    ("text", "end"), [("gloo: Connection closed", "checkpoint"), ("NCCL error: no", "NCCL error: no")]
)
def test_a_lost_rank_says_what_nccl_says(text, end):
    [found] = on_all(lambda rendezvous: rendezvous.lost(PeerLost(text)), world=1)
    assert str(found).startswith("another process of this training is gone. --resume goes on")
    assert str(found).endswith(end)
