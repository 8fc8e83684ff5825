"""`enable_gradient_checkpointing` computes layers again in the backward pass, and changes no bit of a run."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from tests.ranks import on_ranks

from trainwright_api.resource.strategy import Strategy
from trainwright_trainer.layers.fully_connected import FullyConnectedLayer

from .parity_job import Case, Seen, trained

FIXED = {"effective_batch_size": 66, "batch_size": 11, "early_stop": -1, "train_steps": 10, "precision": "float32"}
PLAIN = Case(FIXED, {"norm": "batch", "dropout": 0.2})
AGAIN = replace(PLAIN, trainer={**FIXED, "enable_gradient_checkpointing": True})
ZERO = Strategy.model_validate({"type": "deepspeed", "zero_optimization": {"stage": 2}})


def both(case: Case, other: Case) -> tuple[tuple[Seen, int], tuple[Seen, int]]:
    return counted(case), counted(other)


def counted(case: Case) -> tuple[Seen, int]:
    """The run, and the number of times that its layers were computed."""
    calls = []
    real = FullyConnectedLayer.compute

    def counting(self, rows):
        calls.append(len(rows))
        return real(self, rows)

    with patch.object(FullyConnectedLayer, "compute", counting):
        return trained(case), len(calls)


def assert_same_with_more_calls(plain: tuple[Seen, int], again: tuple[Seen, int]) -> None:
    (expected, before), (found, after) = plain, again
    assert after > before
    assert found.losses == expected.losses
    assert len(found.losses) == 10
    for name, weight in expected.weights.items():
        assert np.array_equal(found.weights[name], weight), name


@pytest.mark.parametrize("norm", ["batch", "ghost"])
def test_in_one_process(norm):
    assert_same_with_more_calls(*both(*(replace(one, combiner={"norm": norm}) for one in (PLAIN, AGAIN))))


@pytest.mark.parametrize("engine", ["ddp", "fsdp", "horovod", ZERO], ids=["ddp", "fsdp", "horovod", "ZeRO 2"])
def test_on_two_ranks(engine):
    for plain, again in on_ranks(2, both, replace(PLAIN, engine=engine), replace(AGAIN, engine=engine)):
        assert_same_with_more_calls(plain, again)
