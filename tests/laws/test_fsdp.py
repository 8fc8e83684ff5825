"""The options of FSDP: where shards are and when they are gathered changes nothing; half precision changes little."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.ranks import on_ranks

from trainwright_api.resource.strategy import Strategy

from .parity_job import Case, all_trained, interrupted, trained

FIXED = {"effective_batch_size": 66, "batch_size": 11, "early_stop": -1, "train_steps": 20}
BFLOAT16 = {"param_dtype": "bfloat16"}
FLOAT32 = {**FIXED, "precision": "float32", "steps_per_checkpoint": 5}


def fsdp(**options: Any) -> Strategy:
    return Strategy.model_validate({"type": "fsdp", **options})


def test_offload_and_resharding_change_nothing():
    """Without a GPU, an offload moves nothing, but takes the same way."""
    engines = [fsdp(), fsdp(reshard_after_forward=False), fsdp(offload_policy=True)]
    plain, *others = on_ranks(2, all_trained, [Case(FIXED, {"norm": "batch"}, engine=engine) for engine in engines])[0]
    assert len(plain.losses) == 20
    for other in others:
        assert other.losses == plain.losses


@pytest.mark.parametrize("policy", [BFLOAT16, {**BFLOAT16, "reduce_dtype": "bfloat16"}], ids=["sums in float32", "all"])
def test_half_precision_has_nearly_the_same_curve_and_resumes_to_the_bit(policy):
    case = Case(FLOAT32, {"norm": "batch"})
    alone = trained(case)
    whole, resumed, _ = on_ranks(2, interrupted, replace(case, stop_at=8, engine=fsdp(mp_policy=policy)))[0]
    assert whole.losses == pytest.approx(alone.losses, rel=0.05, abs=0.05)
    assert whole.losses != alone.losses
    assert resumed.losses == whole.losses[9:]
    assert {one.dtype for one in whole.weights.values()} == {one.dtype for one in alone.weights.values()}
