"""A pod of an Indexed Job is deleted without grace: the attempt ends, and the next goes on from its checkpoint."""

from __future__ import annotations

import pytest
from testkit.full_cluster.training import OF_GANG, STEPS, Done, Training


@pytest.mark.parametrize("index", [0, 1])
def test_the_next_attempt_goes_on(new_training: Training, undisturbed: Done, index: int) -> None:
    new_training.start(backend="horovod", strategy="horovod")
    new_training.until_step(STEPS // 3)
    new_training.take(OF_GANG.format(index))
    new_training.finish_by_the_next_attempt(undisturbed)
