"""A resumed run equals an uninterrupted one: bit for bit on the same number of workers, else up to rounding."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.ranks import on_ranks

from .parity_job import Case, interrupted, refused, trained

FIXED = {"effective_batch_size": 64, "batch_size": 64, "early_stop": -1, "train_steps": 60}
MANY_SCORES = {"steps_per_checkpoint": 5, "learning_rate_scheduler": {"reduce_on_plateau": 9}}


def of_rounds(seen):
    """The evaluation rounds without their times."""
    return [(one.epoch, one.step, one.learning_rate, one.scores, one.best) for one in seen.rounds]


@pytest.mark.parametrize("engine", ["ddp", "fsdp", "horovod"])
def test_to_the_bit_on_three_workers(engine):
    case = Case({**FIXED, **MANY_SCORES}, {"norm": "batch", "dropout": 0.1}, stop_at=33, engine=engine)
    ranks = on_ranks(3, interrupted, case)
    for whole, resumed, _ in ranks:
        assert of_rounds(resumed) == of_rounds(whole) == of_rounds(ranks[0][0])
        for name, weight in whole.weights.items():
            assert np.array_equal(resumed.weights[name], weight), name
            assert np.array_equal(ranks[0][0].weights[name], weight), name
    saved = ranks[0][2]
    for of_ranks in zip(*saved, strict=True):
        assert [one.position.step for one in of_ranks] == [5, 10, 15, 20, 25, 30, 34]


@pytest.mark.parametrize("engine", ["ddp", "fsdp", pytest.param("horovod", marks=pytest.mark.slow)])
def test_a_run_that_was_lost_after_its_last_step_has_the_weights_of_its_best_round(engine):
    ranks = on_ranks(2, interrupted, Case({**FIXED, **MANY_SCORES, "learning_rate": 0.5}, engine=engine))
    for whole, resumed, _ in ranks:
        assert not whole.rounds[-1].best
        assert not resumed.losses  # it made no step
        for name, weight in whole.weights.items():
            assert np.array_equal(resumed.weights[name], weight), name


def test_to_the_bit_in_the_middle_of_an_epoch_with_copies_of_rows():
    """Step 33 of 64 rows is in the sixth epoch of 397 rows."""
    ranks = on_ranks(2, interrupted, Case({**FIXED, **MANY_SCORES}, copies=3, stop_at=33))
    for whole, resumed, _ in ranks:
        assert of_rounds(resumed) == of_rounds(whole)
        for name, weight in whole.weights.items():
            assert np.array_equal(resumed.weights[name], weight), name


@pytest.mark.parametrize(
    ("engine", "norm"),
    [("ddp", "ghost"), ("fsdp", "batch"), pytest.param("horovod", "batch", marks=pytest.mark.slow)],
)
def test_on_another_number_of_workers(engine, norm):
    case = Case({**FIXED, **MANY_SCORES}, {"norm": norm}, engine=engine)
    whole, _, saved = on_ranks(2, interrupted, replace(case, stop_at=33))[0]
    alone = trained(case, saved[-1])
    assert alone.scores == pytest.approx(whole.scores, rel=1e-8, abs=1e-8)
    for name, logits in whole.logits.items():
        assert np.abs(alone.logits[name] - logits).max() < 1e-8


def test_clocks_differ_and_nobody_waits_for_ever():
    seen = on_ranks(2, trained, Case({**FIXED, "train_steps": 20}, every_seconds=0.01))
    assert [one.reason for one in seen] == ["train_steps", "train_steps"]
    assert len(seen[0].saved) > len(seen[0].rounds)


def test_a_loss_that_is_no_number_on_one_worker_ends_all_with_one_line():
    lines = on_ranks(2, refused, Case(FIXED, bad_row=5))
    assert lines[0] == lines[1]
    assert lines[0].startswith("the loss is not a number at step ")


@pytest.mark.parametrize("engine", ["fsdp", pytest.param("horovod", marks=pytest.mark.slow)])
def test_on_another_strategy_and_number(engine):
    case = Case({**FIXED, **MANY_SCORES}, {"norm": "batch"}, engine=engine)
    whole, _, saved = on_ranks(2, interrupted, replace(case, stop_at=33))[0]
    resumed = on_ranks(3, trained, replace(case, engine="ddp"), saved[-1])[0]
    assert resumed.scores == pytest.approx(whole.scores, rel=1e-9, abs=1e-9)
