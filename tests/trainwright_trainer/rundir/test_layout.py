"""The names in the run folder."""

from __future__ import annotations

import pytest

from trainwright_trainer.rundir import layout
from trainwright_trainer.rundir.layout import CheckpointName


def test_a_checkpoint_is_named_after_its_step_and_its_attempt() -> None:
    name = CheckpointName(1200, 2)
    assert str(name) == "0000001200-2"
    assert name.manifest == "checkpoints/0000001200-2/manifest.json"
    assert CheckpointName.parse(str(name)) == name


@pytest.mark.parametrize("text", ["", "1200-2", "0000001200", "0000001200-0", "0000001200-2x", "best", "000000120a-1"])
def test_other_folders_are_not_taken_for_checkpoints(text: str) -> None:
    assert CheckpointName.parse(text) is None


def test_checkpoints_are_ordered_by_step_then_attempt_even_past_ten_digits() -> None:
    names = [CheckpointName(10**10, 1), CheckpointName(9, 10), CheckpointName(9, 2), CheckpointName(10, 1)]
    assert sorted(names) == [
        CheckpointName(9, 2),
        CheckpointName(9, 10),
        CheckpointName(10, 1),
        CheckpointName(10**10, 1),
    ]


@pytest.mark.parametrize(("text", "number"), [("1", 1), ("12", 12), ("0", None), ("01", None), ("x", None), ("", None)])
def test_attempts_have_plain_numbers(text: str, number: int | None) -> None:
    assert layout.attempt_number(text) == number
