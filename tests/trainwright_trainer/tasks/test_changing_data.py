"""Data that change while a saved model reads them: one line, and no result."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.job.job import read_job
from trainwright_trainer.job.options import Options
from trainwright_trainer.tasks.blocks import BlocksHere
from trainwright_trainer.tasks.evaluate import evaluate
from trainwright_trainer.tasks.predict import predict


class OfAChangingFile(BlocksHere):
    """Someone appends a row after the first block was read."""

    def map(self, saved, data, make):
        for number, found in enumerate(super().map(saved, data, make)):
            if number == 0:
                path = Path("data.csv")
                path.write_text(path.read_text() + path.read_text().splitlines()[-1] + "\n")
            yield found


class OfABrokenFile(OfAChangingFile):
    """The change makes another error."""

    def map(self, saved, data, make):
        list(super().map(saved, data, make))
        raise IndexError("list index out of range")


@pytest.mark.parametrize("blocks", [OfAChangingFile(), OfABrokenFile()], ids=lambda blocks: type(blocks).__name__)
@pytest.mark.parametrize(
    ("task", "function", "output", "written"),
    [("predict", predict, "found.csv", "found.csv"), ("evaluate", evaluate, "found", "found/evaluation.json")],
)
def test_a_change_is_found_and_nothing_is_written(
    workplace: Any, task: str, function: Callable[..., Any], output: str, written: str, blocks: BlocksHere
) -> None:
    workplace.done("train", workplace.job(), "--output", "out")
    job = read_job(task, Path("job.yaml"), Options(model="out", dataset="data.csv", output=output))
    with pytest.raises(Mistakes, match=r"'data\.csv' changed while it was read"):
        function(job, print, blocks)
    assert not (workplace.folder / written).exists()
