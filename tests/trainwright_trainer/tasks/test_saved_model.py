"""The forward passes of a saved model: what one of them holds is bounded, whatever the model computes for a row."""

from __future__ import annotations

import pytest

from trainwright_trainer.tasks import saved_model
from trainwright_trainer.tasks.saved_model import load_model, rows_at_a_time


@pytest.mark.parametrize(("combiner", "vectors"), [("concat", 1), ("transformer", 3)])
def test_a_pass_has_fewer_rows_where_the_combiner_computes_a_vector_for_each_input(workplace, combiner, vectors):
    path = workplace.job(lambda job: job["config"].update(combiner={"type": combiner}))
    workplace.done("train", path, "--output", "out")
    assert rows_at_a_time(load_model(workplace.folder / "out")) == 4096 // vectors


def test_a_pass_has_fewer_rows_where_a_row_has_many_logits(workplace, monkeypatch):
    monkeypatch.setattr(saved_model, "PASS_LOGITS", 30)
    output = {"name": "kind", "type": "category"}
    inputs = [{"name": "size", "type": "number"}]
    path = workplace.job(lambda job: job["config"].update(input_features=inputs, output_features=[output]))
    workplace.done("train", path, "--output", "out")
    saved = load_model(workplace.folder / "out")
    assert rows_at_a_time(saved) == 30 // len(saved.statistics["kind"]["vocabulary"])
