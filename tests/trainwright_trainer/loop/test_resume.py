"""A run that stops at any step and resumes with new objects ends with bit for bit the same result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from trainwright_api.problems import Mistakes
from trainwright_api.resource.job import CheckpointPolicy
from trainwright_trainer.optim.optimizers import BUILT

EVERY_STEP = CheckpointPolicy(every_seconds=1)

OPTIMIZERS = sorted(BUILT)
HARD = {"dropout": 0.3, "norm": "batch"}


def assert_same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert torch.equal(value, other[name]), name


def resumed_at_every_step(
    job: Callable[..., Any], trainer: dict[str, Any], clock: Callable[[], Callable[[], float]], **more: Any
) -> int:
    """Resume a run from each snapshot and compare weights, result and history. Return the number of snapshots."""
    straight = job(trainer, **more)
    whole = straight.train(policy=EVERY_STEP, clock=clock())
    for snapshot in straight.kept.snapshots:
        other = job(trainer, **more)
        rest = other.train(policy=EVERY_STEP, clock=clock(), resume=snapshot)
        assert_same(straight.weights(), other.weights())
        assert (rest.outcome, rest.position, rest.best_step) == (whole.outcome, whole.position, whole.best_step)
        assert [r.scores for r in rest.history] == [r.scores for r in whole.history]
        assert [r.best for r in rest.history] == [r.best for r in whole.history]
    return len(straight.kept.snapshots)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_every_optimizer_goes_on_to_the_bit_with_dropout_and_batch_norm(job, ticks, optimizer):
    trainer = {"optimizer": {"type": optimizer}, "train_steps": 12, "early_stop": -1}
    assert resumed_at_every_step(job, trainer, ticks, combiner=HARD) == 12


@pytest.mark.parametrize(
    "trainer",
    [
        pytest.param({"optimizer": {"type": "sgd", "momentum": 0.9, "nesterov": True}}, id="momentum"),
        pytest.param({"optimizer": {"type": "adam", "amsgrad": True, "weight_decay": 0.1}}, id="amsgrad"),
        pytest.param({"optimizer": {"type": "rmsprop", "momentum": 0.5, "centered": True}}, id="centered rmsprop"),
        pytest.param({"gradient_accumulation_steps": 3}, id="accumulation"),
        pytest.param({"evaluate_training_set": True}, id="evaluated training set"),
        pytest.param({"skip_all_evaluation": True}, id="no evaluation"),
        pytest.param({"should_shuffle": False}, id="source order"),
        pytest.param({"use_mixed_precision": True}, id="bfloat16"),
        pytest.param({"precision": "float64"}, id="float64"),
        pytest.param({"steps_per_checkpoint": 3}, id="rounds across epochs"),
        pytest.param({"learning_rate_scheduler": {"decay": "cosine", "t_0": 4, "warmup_fraction": 0.3}}, id="schedule"),
    ],
)
def test_every_option_with_a_memory_goes_on_to_the_bit(job, ticks, trainer):
    assert resumed_at_every_step(job, {"epochs": 2, "early_stop": -1, **trainer}, ticks, combiner=HARD) >= 4


def test_plateau_early_stopping_and_the_best_weights_go_on(job, ticks):
    trainer = {
        "epochs": 30,
        "learning_rate": 1.0,
        "checkpoints_per_epoch": 3,
        "early_stop": 6,
        "learning_rate_scheduler": {
            "reduce_on_plateau": 3,
            "reduce_on_plateau_patience": 0,
            "reduce_eval_split": "validation",
        },
    }
    straight = job(trainer, combiner=HARD)
    whole = straight.train(policy=EVERY_STEP, clock=ticks())
    assert whole.outcome.reason == "early stopping"
    assert whole.best_step < whole.position.step
    assert len({r.learning_rate for r in whole.history}) > 1
    assert resumed_at_every_step(job, trainer, ticks, combiner=HARD) > 10


def test_the_loss_still_decides_where_the_validation_rows_do_not_define_the_metric(job, ticks):
    def with_one_class(*arguments, **more):
        one = job(*arguments, **more)
        one.splits["validation"].held.floats[:, 2] = 1
        return one

    trainer = {"epochs": 6, "learning_rate": 0.5, "early_stop": 3, "validation_metric": "roc_auc"}
    assert resumed_at_every_step(with_one_class, trainer, ticks) >= 28


def test_a_stopped_run_leaves_the_checkpoint_of_its_last_step(job):
    straight = job({"epochs": 3}, combiner=HARD)
    straight.train()
    for steps in (1, 7, 10, 20):
        first, second = job({"epochs": 3}, combiner=HARD), job({"epochs": 3}, combiner=HARD)
        result = first.train(stop=lambda first=first, steps=steps: len(first.listener.steps()) >= steps)
        assert (result.outcome.kind, result.position.step) == ("stopped", steps)
        assert first.kept.snapshots[-1].position == result.position
        second.train(resume=first.kept.snapshots[-1])
        assert_same(straight.weights(), second.weights())


def test_a_stop_request_at_the_very_last_step_finds_the_run_done(job):
    one = job({"epochs": 1})
    assert one.train(stop=lambda: len(one.listener.steps()) >= 7).outcome.reason == "epochs"


def test_a_snapshot_is_plain_and_shares_no_memory_with_training(job, ticks):
    one = job({"epochs": 2, "optimizer": {"type": "adam"}}, combiner=HARD)
    one.train(policy=EVERY_STEP, clock=ticks())
    early = one.kept.snapshots[2]
    copy = {name: block.data.clone() for name, block in early.tensors.items()}
    other = job({"epochs": 2, "optimizer": {"type": "adam"}}, combiner=HARD)
    other.train(resume=early)
    tensors = {name: block.data for name, block in early.tensors.items()}
    assert_same(tensors, copy)
    assert all(value.device.type == "cpu" and not value.requires_grad for value in tensors.values())


def test_a_checkpoint_of_another_model_is_a_mistake_that_names_the_first_difference(job):
    one, wider, deeper = (
        job({"epochs": 1}, combiner=combiner) for combiner in (HARD, {"output_size": 9}, {**HARD, "num_fc_layers": 3})
    )
    one.train()
    saved = one.kept.snapshots[-1]
    with pytest.raises(
        Mistakes, match=r"another model: combiner\.stack\.layers\.0\.linear\.bias is \[8\] there, and is \[9\]"
    ):
        wider.train(resume=saved)
    with pytest.raises(Mistakes, match=r"linear\.bias is absent there, and is \[8\] in the config"):
        deeper.train(resume=saved)


def test_best_weights_are_stored_only_where_the_best_round_is_another(job):
    one = job({"epochs": 3, "learning_rate": 0.3})
    one.train()
    for snapshot in one.kept.snapshots:
        assert snapshot.best_step == snapshot.state["best"]["step"]
        assert bool(snapshot.best) == (snapshot.state["best"]["step"] != snapshot.position.step)
