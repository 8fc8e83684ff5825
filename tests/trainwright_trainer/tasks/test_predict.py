"""The blocks of predict. Its other behaviour is tested with evaluate's, in `test_evaluate.py`."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from trainwright_trainer.tasks import predict
from trainwright_trainer.tasks.predict import rows_of_a_block
from trainwright_trainer.tasks.saved_model import load_model

NUMBERS = 120


@pytest.fixture
def of_kinds(workplace, monkeypatch):
    """A workplace with a model of a category."""
    monkeypatch.setattr(predict, "_NUMBERS_OF_A_BLOCK", NUMBERS)
    output = {"name": "kind", "type": "category"}
    inputs = [{"name": "size", "type": "number"}]
    workplace.job(lambda job: job["config"].update(input_features=inputs, output_features=[output]))
    workplace.done("train", "job.yaml", "--output", "out")
    return workplace


def test_a_block_has_fewer_rows_where_each_of_many_classes_is_a_column(of_kinds):
    saved = load_model(of_kinds.folder / "out")
    classes = len(saved.statistics["kind"]["vocabulary"])
    assert classes > 2
    assert rows_of_a_block(saved) == NUMBERS // classes
    assert rows_of_a_block(saved, top_k=2) == NUMBERS // 2
    assert rows_of_a_block(saved, top_k=99) == NUMBERS // classes


def test_smaller_blocks_change_no_prediction(of_kinds, monkeypatch):
    words = ("predict", "job.yaml", "--model", "out", "--output", "p.parquet")
    of_kinds.done(*words)
    parts = pq.ParquetFile(of_kinds.folder / "p.parquet")
    monkeypatch.setattr(predict, "_NUMBERS_OF_A_BLOCK", 1 << 24)
    of_kinds.done(*words)
    whole = pq.ParquetFile(of_kinds.folder / "p.parquet")
    assert parts.num_row_groups > whole.num_row_groups == 1
    found, expected = parts.read(), whole.read()
    assert found["kind_predictions"].equals(expected["kind_predictions"])
    assert found["kind_probability"].to_numpy() == pytest.approx(expected["kind_probability"].to_numpy(), rel=1e-5)


@pytest.mark.parametrize("kind", ["text", "sequence", "set", "bag"])
def test_rows_of_which_the_model_knows_no_token_are_one_line(workplace, kind):
    inputs = [{"name": "kind", "type": kind}]
    workplace.job(lambda job: job["config"].update(input_features=inputs))
    workplace.done("train", "job.yaml", "--output", "out")
    workplace.data("kind", "a", "x y", "a x", "", "z", name="new.csv")
    out = workplace.done("predict", "job.yaml", "--model", "out", "--dataset", "new.csv", "--output", "p.csv").out
    assert "new.csv: column 'kind': rows of which all tokens are unknown: 2\n" in out


def test_a_kept_target_with_separators_of_thousands_is_no_number(workplace):
    head, rows = "size;area;price\n", range(40)
    Path("houses.csv").write_text(head + "".join(f"{row};0,{row};{500 + row}\n" for row in rows))
    sections = {"input_features": [{"name": "size", "type": "number"}, {"name": "area", "type": "number"}]}
    sections["output_features"] = [{"name": "price", "type": "number"}]
    workplace.job(lambda job: (job.update(dataset="houses.csv"), job["config"].update(sections)))
    workplace.done("train", "job.yaml", "--output", "out")
    Path("houses.csv").write_text(head + "".join(f"{row};0,{row};{'1.007' if row % 2 else 900}\n" for row in rows))
    workplace.done("predict", "job.yaml", "--model", "out", "--output", "p.parquet")
    assert pq.read_table("p.parquet")["price"].to_pylist() == [900, None] * 20


def test_texts_that_counted_as_missing_in_the_training_do_without_its_file(workplace):
    workplace.job(lambda job: job.update(datasetOptions={"naValues": ["a"]}))
    workplace.done("train", "job.yaml", "--output", "out")
    with_file = workplace.done("predict", "job.yaml", "--model", "out", "--output", "with.csv").out
    out = workplace.done("predict", "--model", "out", "--dataset", "data.csv", "--output", "without.csv").out
    assert "missing cells" in out
    assert out.replace("without.csv", "with.csv") == with_file
    assert Path("without.csv").read_text() == Path("with.csv").read_text()
    out = workplace.done("evaluate", "--model", "out", "--dataset", "data.csv", "--output", "scores").out
    assert " test rows · " in out
    other = workplace.job(lambda job: job.update(datasetOptions={"naValues": []}), name="other.yaml")
    out = workplace.done("predict", other, "--model", "out", "--output", "other.csv").out
    assert "missing cells" not in out
