"""The fields that may change where training goes on from a checkpoint of another run."""

from __future__ import annotations

import pytest

from trainwright_api.config.continued import may_differ


@pytest.mark.parametrize(
    ("path", "optimizer", "expected"),
    [
        ("config.trainer.learning_rate", "adam", True),
        ("config.trainer.optimizer.weight_decay", "adam", True),
        ("config.trainer.optimizer.betas[0]", "adam", True),
        ("config.trainer.gradient_clipping.clipvalue", "adam", True),
        ("config.trainer.learning_rate_scheduler.decay", "adam", True),
        ("config.trainer.optimizer.momentum", "sgd", True),
        ("config.trainer.optimizer.momentum", "rmsprop", False),
        ("config.trainer.optimizer.type", "adam", False),
        ("config.trainer.optimizer.amsgrad", "adam", False),
        ("config.trainer.learning_rate_scheduler.reduce_eval_metric", "adam", False),
        ("config.trainer.learning_rate_scaling", "adam", False),
        ("config.trainer.batch_size", "adam", False),
        ("config.combiner.learning_rate", "adam", False),
        ("seed", "adam", False),
    ],
)
def test_what_the_state_of_a_checkpoint_fits(path: str, optimizer: str, expected: bool) -> None:
    assert may_differ(path, optimizer) is expected
