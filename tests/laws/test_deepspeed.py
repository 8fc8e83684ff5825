"""DeepSpeed keeps float32 master weights, so its curve is compared in float32, over the first 20 steps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from deepspeed.accelerator import real_accelerator
from tests.ranks import on_ranks

from trainwright_api.problems import Mistakes
from trainwright_api.resource.strategy import Strategy
from trainwright_trainer.strategies.deepspeed import check_precision

from .parity_job import Case, Seen, all_trained, interrupted, trained


def slow(*values: Any) -> Any:
    """A case of `make test-all`: each takes some ten seconds, and the others cover the same code."""
    return pytest.param(*values, marks=pytest.mark.slow)


FLOAT32 = {"precision": "float32", "train_steps": 20, "early_stop": -1}
IN_PASSES = {**FLOAT32, "effective_batch_size": 66, "batch_size": 11}
CLIPPED = {"gradient_clipping": {"clipglobalnorm": 0.5}, "regularization_type": "l2", "regularization_lambda": 0.01}
CASES = [
    Case({**IN_PASSES, **CLIPPED}),
    # The gradient of a bias before a batch norm is rounding noise, which Adam amplifies.
    Case(IN_PASSES, {"norm": "batch", "use_bias": False}),
    Case({**FLOAT32, "effective_batch_size": 64, "batch_size": 64}, loss="root_mean_squared_error"),
]


def zero(stage: int, **more: Any) -> Strategy:
    return Strategy.model_validate({"type": "deepspeed", "zero_optimization": {"stage": stage}, **more})


def assert_close(found: Seen, expected: Seen) -> None:
    assert len(expected.losses) == 20
    assert found.losses == pytest.approx(expected.losses, rel=1e-5, abs=1e-5)
    for name, logits in expected.logits.items():
        assert np.abs(found.logits[name] - logits).max() < 1e-4


def curves(engine: Strategy, world: int) -> list[list[Seen]]:
    """Those of each rank."""
    return on_ranks(world, all_trained, [replace(case, engine=engine) for case in CASES])


@pytest.mark.parametrize("stage", [slow(0), slow(1), slow(2), 3])
def test_every_stage_has_the_curve_of_one_process(stage):
    alone = all_trained(CASES)
    for rank in curves(zero(stage), 3):
        for found, expected in zip(rank, alone, strict=True):
            assert_close(found, expected)


@pytest.mark.parametrize("stage", [slow(1), 2, slow(3)])
def test_sums_beside_the_backward_pass_change_no_bit(stage):
    """On two ranks: stage 1 fills the buckets in another order, and the sum of two numbers has one order alone."""
    buckets = {"stage": stage, "reduce_bucket_size": 200}
    beside, awaited = (
        curves(zero(stage, zero_optimization={**buckets, "overlap_comm": overlap}), 2) for overlap in (True, False)
    )
    for rank, expected in zip(beside, awaited, strict=True):
        assert [one.losses for one in rank] == [one.losses for one in expected]


OFFLOADED = {"offload_optimizer": {"device": "cpu", "pin_memory": True}, "offload_param": {"device": "cpu"}}


@pytest.mark.parametrize(
    ("engine", "tolerance"),
    [
        slow(zero(3, zero_optimization={"stage": 3, **OFFLOADED}), 1e-5),
        slow(zero(2, zero_optimization={"stage": 2, "offload_optimizer": {"device": "cpu"}}), 1e-5),
        slow(zero(1, bf16={"enabled": True}), 0.1),
        (zero(3, bf16=True), 0.1),
    ],
    ids=["stage 3 offloaded", "stage 2 offloaded", "stage 1 bf16", "stage 3 bf16"],
)
def test_offload_and_half_precision(engine, tolerance):
    """Half precision changes the curve. It stays near that of float32, and a resumed run continues it to the bit."""
    case = Case({**FLOAT32, "effective_batch_size": 64, "batch_size": 64, "steps_per_checkpoint": 5})
    alone = trained(case)
    whole, resumed, _ = on_ranks(2, interrupted, replace(case, stop_at=8, engine=engine))[0]
    assert whole.losses == pytest.approx(alone.losses, rel=tolerance, abs=tolerance)
    assert resumed.losses == whole.losses[9:]


def test_a_precision_that_the_device_has_not_is_a_mistake(monkeypatch):
    accelerator = real_accelerator.get_accelerator()
    monkeypatch.setattr(accelerator, "is_fp16_supported", lambda: False)
    with pytest.raises(
        Mistakes, match=r"^backend\.trainer\.strategy\.fp16: this device \(cpu\) .*: use bf16, or neither"
    ):
        check_precision(zero(1, fp16={"enabled": True}))


RESUMED = {**FLOAT32, "effective_batch_size": 64, "batch_size": 64, "steps_per_checkpoint": 5}


@pytest.mark.parametrize("stage", [slow(0), slow(1), slow(2), 3])
def test_it_resumes_to_the_bit(stage):
    case = Case(RESUMED, {"norm": "batch", "dropout": 0.1}, stop_at=8, engine=zero(stage))
    for whole, resumed, _ in on_ranks(2, interrupted, case):
        for name, weight in whole.weights.items():
            assert np.array_equal(resumed.weights[name], weight), name


@pytest.mark.parametrize("stage", [slow(0), slow(1), 2, slow(3)])
def test_it_resumes_from_and_to_another_strategy(stage):
    case = Case(RESUMED)
    whole = trained(case)
    (_, here, saved), _ = on_ranks(2, interrupted, replace(case, stop_at=8, engine=zero(stage)))
    (_, _, of_ddp), _ = on_ranks(2, interrupted, replace(case, stop_at=8))
    there = on_ranks(3, trained, replace(case, engine="ddp"), saved[-1])[0]
    back = on_ranks(3, trained, replace(case, engine=zero(stage)), of_ddp[-1])[0]
    assert here.losses == pytest.approx(whole.losses[9:], rel=1e-5, abs=1e-5)
    assert there.losses == pytest.approx(whole.losses[9:], rel=1e-5, abs=1e-5)
    assert back.losses == pytest.approx(whole.losses[9:], rel=1e-5, abs=1e-5)
