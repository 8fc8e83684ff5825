from __future__ import annotations

import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.tasks.launched_run import join_seconds


def test_the_time_to_join_is_read_from_the_environment() -> None:
    assert join_seconds({}) == 300
    assert join_seconds({"TRAINWRIGHT_JOIN_SECONDS": "7"}) == 7


@pytest.mark.parametrize("text", ["0", "", "-1", "1.5", "soon", "²"])
def test_another_time_is_a_mistake(text: str) -> None:
    with pytest.raises(Mistakes, match="expected a whole number of seconds, from 1"):
        join_seconds({"TRAINWRIGHT_JOIN_SECONDS": text})
