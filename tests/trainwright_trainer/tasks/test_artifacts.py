"""The last line of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

LATE, KIND = {"name": "late", "type": "binary"}, {"name": "kind", "type": "category"}
RIGHT = "% right, {} by predicting always the most frequent class"


def of(*outputs: dict[str, str]) -> Callable[[dict[str, Any]], None]:
    inputs = [{"name": "size", "type": "number"}, {"name": "open", "type": "binary"}]
    return lambda job: job["config"].update(input_features=inputs, output_features=list(outputs))


@pytest.mark.parametrize(
    ("outputs", "scores", "phrase"),
    [
        ([LATE], ["test loss ", "test accuracy "], ""),
        ([KIND, LATE], ["test kind.loss ", "test kind.accuracy ", "test kind.accuracy_micro "], "kind: "),
    ],
)
def test_scores_have_the_name_of_their_output_if_there_are_several(workplace, outputs, scores, phrase):
    out = workplace.done("train", workplace.job(of(*outputs)), "--output", "out").out
    words = next(line for line in out.splitlines() if line.startswith("done in")).split(" · ")
    told = [word for word in words if word.startswith("test ")]
    assert [word.rpartition(" ")[0] + " " for word in told] == scores
    [right] = [word for word in words if " % right, " in word]
    assert right.removeprefix(phrase)[0].isdigit()


def test_no_epoch_is_the_best_where_nothing_is_evaluated(workplace):
    job = workplace.job(lambda job: job["config"]["trainer"].update(skip_all_evaluation=True))
    assert "best epoch" not in workplace.done("train", job, "--output", "out").out
    assert "best epoch" not in (workplace.folder / "out/report.html").read_text()
    # Few validation rows choose the loss, which the saved config must not name as the user's choice.
    workplace.done("predict", "--model", "out", "--dataset", "data.csv", "--output", "predictions.csv")
