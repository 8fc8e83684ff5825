"""N workers compute the same curve as one process with the same global batches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.ranks import on_ranks

from .parity_job import Case, Seen, all_trained, trained
from .sum_after_backward import SumAfterBackward

FIXED = {"effective_batch_size": 64, "batch_size": 64, "early_stop": -1}
CLIPPED = {"gradient_clipping": {"clipglobalnorm": 0.5}, "regularization_type": "l2", "regularization_lambda": 0.01}
IN_PASSES = {"effective_batch_size": 66, "batch_size": 11}

IN_PASSES_CLIPPED = Case({**FIXED, **CLIPPED, **IN_PASSES})
A_ROOT_OF_A_MEAN = Case({**FIXED, **CLIPPED}, loss="root_mean_squared_error")
BATCH_NORM_AND_A_BATCH_OF_ONE_ROW = Case({**FIXED, **IN_PASSES}, {"norm": "batch"})
GHOST_NORM = Case({**FIXED, **IN_PASSES}, {"norm": "ghost", "norm_params": {"virtual_batch_size": 5}})
COPIES_OF_ROWS = Case({**FIXED, **IN_PASSES}, copies=3)


def assert_same(found: Seen, expected: Seen, steps: int = 200) -> None:
    assert len(expected.losses) == steps
    assert found.losses == pytest.approx(expected.losses, rel=1e-9, abs=1e-9)
    assert found.scores == pytest.approx(expected.scores, rel=1e-8, abs=1e-8)
    for name, logits in expected.logits.items():
        assert np.abs(found.logits[name] - logits).max() < 1e-8


@pytest.mark.parametrize(
    ("workers", "cases"),
    [
        (2, [IN_PASSES_CLIPPED, A_ROOT_OF_A_MEAN, COPIES_OF_ROWS]),
        (3, [IN_PASSES_CLIPPED, BATCH_NORM_AND_A_BATCH_OF_ONE_ROW, GHOST_NORM]),
    ],
)
def test_a_fixed_batch_has_one_curve(workers, cases):
    alone = all_trained(cases)
    for rank in on_ranks(workers, all_trained, cases):
        for found, expected in zip(rank, alone, strict=True):
            assert_same(found, expected)


@pytest.mark.parametrize("engine", ["fsdp", "horovod", SumAfterBackward])
def test_every_strategy_has_the_same_curve(engine):
    """Over 50 steps; test_pairwise.py, which is slow, compares 200."""
    shorter = [IN_PASSES_CLIPPED, BATCH_NORM_AND_A_BATCH_OF_ONE_ROW, GHOST_NORM]
    cases = [replace(case, trainer={**case.trainer, "train_steps": 50}) for case in shorter]
    alone = all_trained(cases)
    for rank in on_ranks(3, all_trained, [replace(case, engine=engine) for case in cases]):
        for found, expected in zip(rank, alone, strict=True):
            assert_same(found, expected, steps=50)


def test_the_first_steps_in_float32():
    case = Case({**FIXED, "precision": "float32", "train_steps": 20})
    alone = trained(case).losses
    for workers in (2, 3):
        assert on_ranks(workers, trained, case)[0].losses == pytest.approx(alone, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("engine", ["ddp", "fsdp", "horovod"])
def test_mixed_precision_has_nearly_one_curve(engine):
    """bfloat16 has three digits, and the passes of three workers round differently."""
    case = Case({**FIXED, "precision": "float32", "train_steps": 20, "use_mixed_precision": True}, engine=engine)
    alone = trained(case)
    for rank in on_ranks(3, trained, case):
        assert rank.losses == pytest.approx(alone.losses, rel=0.02, abs=0.02)


def test_without_one_it_is_the_curve_of_as_many_times_the_batch():
    several = Case({"batch_size": 16, "learning_rate_scaling": "sqrt", "early_stop": -1}, workers=3)
    whole = Case({"batch_size": 48, "learning_rate": 0.01 * 3**0.5, "early_stop": -1})
    assert_same(on_ranks(3, trained, several)[0], trained(whole))
