"""All ranks end a step together, because each waits for the gradients of all. The slowest rank is reported."""

from __future__ import annotations

from functools import partial
from itertools import count

import pytest
from tests.ranks import on_ranks

from trainwright_trainer.callbacks.ranks import straggler

from .parity_job import Case, trained

SHORT = {"effective_batch_size": 64, "batch_size": 64, "early_stop": -1, "train_steps": 20}


@pytest.mark.parametrize("combiner", [{}, {"norm": "batch"}], ids=["ddp", "shared batch norm"])
def test_the_slow_rank_is_named(combiner):
    first, second = on_ranks(2, trained, Case(SHORT, combiner, slow_rank=1))
    assert len(first.ranks) == 3
    for fast, slow in first.ranks:
        assert straggler([fast, slow]) == slow
        assert slow.rank == 1
        assert slow.own_seconds >= 0.02
        assert fast.step_seconds >= 0.02, "it waits for the other"
        assert fast.own_seconds < fast.step_seconds / 2
    assert second.ranks == [()] * 3, "rank 0 tells it"


def test_of_equal_ranks_nobody_is_named():
    first, _ = on_ranks(2, trained, Case(SHORT, clock=partial(next, count())))
    for ranks in first.ranks:
        assert [one.rank for one in ranks] == [0, 1]
        assert ranks[0].own_seconds > 0
        assert straggler(ranks) is None


def test_a_process_alone_measures_itself():
    (only,) = trained(Case({**SHORT, "train_steps": 5}, clock=partial(next, count()))).ranks[-1]
    assert only.own_seconds <= only.step_seconds
