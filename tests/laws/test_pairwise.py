"""The parity law over all factors of a training, pairwise: N workers compute the curve of one process.

float64, 200 steps: losses to 1e-9, held-out predictions to 1e-8. DeepSpeed, float32, 20 steps: losses to 1e-5.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.ranks import on_ranks

from trainwright_api.resource.strategy import Strategy
from trainwright_trainer.optim.optimizers import BUILT as OPTIMIZERS
from trainwright_trainer.strategies import STRATEGIES

from .pairwise import Row, pairwise
from .parity_job import Case, Seen, all_trained

# Rows of a global batch. None: `effective_batch_size: auto`, from the batch size of a worker.
BATCHES = {"divisible": 60, "not divisible": 63, "auto": None}
NORMS: dict[str, dict[str, Any]] = {
    "none": {},
    "layer": {"norm": "layer"},
    "batch": {"norm": "batch", "use_bias": False},
    "ghost": {"norm": "ghost", "norm_params": {"virtual_batch_size": 8}, "use_bias": False},
}
LIMITS: dict[str, dict[str, Any] | None] = {
    "none": None,
    "clipglobalnorm": {"clipglobalnorm": 0.5},
    "clipnorm": {"clipglobalnorm": None, "clipnorm": 0.2},
    "clipvalue": {"clipglobalnorm": None, "clipvalue": 0.05},
}
SCHEDULES: dict[str, dict[str, Any]] = {
    "constant": {},
    "warm-up and linear": {"warmup_fraction": 0.2, "decay": "linear"},
    "cosine": {"decay": "cosine", "t_0": 7},
    "exponential": {"decay": "exponential", "decay_steps": 10},
    "plateau": {"reduce_on_plateau": 3, "reduce_on_plateau_patience": 1},
}
FACTORS = {
    "strategy": [word for word in STRATEGIES if word != "single"],
    "optimizer": list(OPTIMIZERS),
    "workers": [2, 1, 3, 4],
    "batch": list(BATCHES),
    "passes": [1, 3],
    "norm": list(NORMS),
    "limit": list(LIMITS),
    "penalty": [None, "l1", "l2", "l1_l2"],
    "weights": ["equal", "of classes"],
    "schedule": list(SCHEDULES),
}


def allowed(row: Row) -> bool:
    return row["strategy"] != "deepspeed" or row["limit"] in ("none", "clipglobalnorm")


ROWS = pairwise(FACTORS, allowed)


def case_of(position: int, row: Row) -> Case:
    """The case of one row. The rows of DeepSpeed take the ZeRO stages in turn."""
    engine: Strategy | str = row["strategy"]
    length = {"train_steps": 200}
    if engine == "deepspeed":
        stages = {"stage": position % 4}
        engine = Strategy.model_validate({"type": "deepspeed", "zero_optimization": stages})
        length = {"train_steps": 20, "precision": "float32"}
    trainer = {
        **_batch(BATCHES[row["batch"]], row["passes"]),
        **length,
        "early_stop": -1,
        "steps_per_checkpoint": 10,
        "optimizer": {"type": row["optimizer"]},
        "gradient_clipping": LIMITS[row["limit"]],
        "learning_rate_scheduler": SCHEDULES[row["schedule"]],
        "learning_rate": 0.005,
    }
    if row["penalty"]:
        trainer |= {"regularization_type": row["penalty"], "regularization_lambda": 0.01}
    weighted = row["weights"] == "of classes"
    return Case(trainer, NORMS[row["norm"]], workers=row["workers"], engine=engine, has_class_weights=weighted)


def _batch(rows: int | None, passes: int) -> dict[str, int]:
    sizes = {"batch_size": 16} if rows is None else {"effective_batch_size": rows, "batch_size": rows // passes}
    return {**sizes, "gradient_accumulation_steps": passes}


def assert_same(row: Row, found: Seen, expected: Seen) -> None:
    if row["strategy"] == "deepspeed":
        assert found.losses == pytest.approx(expected.losses, rel=1e-5, abs=1e-5), row
        return
    assert len(found.losses) == 200
    assert found.losses == pytest.approx(expected.losses, rel=1e-9, abs=1e-9), row
    for name, logits in expected.logits.items():
        assert np.abs(found.logits[name] - logits).max() < 1e-8, row


@pytest.mark.slow  # some minutes on two cores
@pytest.mark.parametrize("workers", FACTORS["workers"])
def test_every_pair_has_the_curve_of_one_process(workers):
    rows = [(position, row) for position, row in enumerate(ROWS) if row["workers"] == workers]
    cases = [case_of(position, row) for position, row in rows]
    alone = all_trained(cases)
    for rank in on_ranks(workers, all_trained, cases):
        for (_, row), found, expected in zip(rows, rank, alone, strict=True):
            assert_same(row, found, expected)


def test_the_table_has_every_pair():
    assert 30 <= len(ROWS) <= 60
    for strategy in FACTORS["strategy"]:
        for optimizer in OPTIMIZERS:
            assert any((row["strategy"], row["optimizer"]) == (strategy, optimizer) for row in ROWS)


def test_ranks_without_rows():
    """Three workers, and global batches of two rows; the last batch of an epoch has one. Two validation rows."""
    trainer = {"effective_batch_size": 2, "batch_size": 2, "train_steps": 21, "early_stop": -1, "eval_batch_size": 1}
    rows = {"train": 13, "validation": 2, "test": 3}
    cases = [
        Case(trainer, {"norm": norm}, rows=rows, engine=engine)
        for norm in (None, "batch", "ghost")
        for engine in ENGINES
    ]
    alone = all_trained(cases)
    for rank in on_ranks(3, all_trained, cases):
        for found, expected in zip(rank, alone, strict=True):
            assert found.losses == pytest.approx(expected.losses, rel=1e-8, abs=1e-8)
            assert found.scores == pytest.approx(expected.scores, rel=1e-8, abs=1e-8)


ENGINES = [word for word in FACTORS["strategy"] if word != "deepspeed"]
