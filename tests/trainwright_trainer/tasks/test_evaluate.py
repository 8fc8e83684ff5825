"""The tasks evaluate and predict, compared with the targets in the data."""

from __future__ import annotations

import json

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest

LABELS = ("no", "yes")


def read(path):
    return json.loads(path.read_text())


@pytest.fixture
def trained(workplace):
    """A finished experiment in `out`."""
    workplace.done("experiment", workplace.job(), "--output", "out")
    return workplace


@pytest.fixture
def truth(workplace):
    """The targets of the raw file, in its order."""
    lines = (workplace.folder / "data.csv").read_text().splitlines()[1:]
    return np.array([line.rsplit(",", 1)[1] for line in lines])


def test_evaluation_on_the_training_data_is_that_of_training(trained):
    out = trained.done("evaluate", "job.yaml", "--model", "out", "--output", "evaluated").out
    metrics = read(trained.folder / "out/metrics.json")
    found = read(trained.folder / "evaluated/evaluation.json")
    assert found["part"] == "test"
    assert found["scores"].keys() == metrics["end"]["test"].keys()
    for name, scores in metrics["end"]["test"].items():
        assert found["scores"][name] == pytest.approx(scores, rel=1e-6)
    assert out.startswith(f"data.csv: {found['rows']} test rows · combined.loss ")
    assert out.endswith("report evaluated/evaluation.html · scores evaluated/evaluation.json\n")
    assert (trained.folder / "evaluated/evaluation.html").read_text().startswith("<!doctype html>")


def test_a_copy_of_the_training_data_is_known_by_its_content(trained):
    (trained.folder / "copy.csv").write_bytes((trained.folder / "data.csv").read_bytes())
    trained.done("evaluate", "job.yaml", "--model", "out", "--dataset", "copy.csv", "--output", "evaluated")
    assert read(trained.folder / "evaluated/evaluation.json")["part"] == "test"


def test_other_data_judge_with_all_their_rows(trained):
    lines = (trained.folder / "data.csv").read_text().splitlines()
    trained.data(*lines[:51], name="new.csv")
    out = trained.done("evaluate", "job.yaml", "--model", "out", "--dataset", "new.csv", "--output", "evaluated").out
    assert out.startswith("new.csv: 50 rows · ")
    found = read(trained.folder / "evaluated/evaluation.json")
    assert (found["part"], found["rows"]) == ("given", 50)


def test_the_predictions_of_an_experiment_are_those_that_were_evaluated(trained, truth):
    table = pyarrow.parquet.read_table(trained.folder / "out/test_predictions.parquet")
    rows = table["row"].to_numpy()
    right = table["late_predictions"].to_numpy() == truth[rows]
    scores = read(trained.folder / "out/metrics.json")["end"]["test"]["late"]
    assert np.mean(right) == pytest.approx(scores["accuracy"])
    assert list(rows) == sorted(rows)
    assert 20 < len(rows) < 60


def test_predictions_with_probabilities(trained):
    out = trained.done("predict", "job.yaml", "--model", "out", "--output", "p.parquet").out
    assert out == "data.csv: 200 rows predicted: p.parquet\n"
    table = pyarrow.parquet.read_table(trained.folder / "p.parquet")
    names = ["late_predictions", "late_probability", "late_probabilities_no", "late_probabilities_yes"]
    assert table.column_names == names
    shares = np.stack([table[name].to_numpy() for name in names[2:]], 1)
    assert shares.sum(1) == pytest.approx(np.ones(200))
    assert table["late_probability"].to_numpy() == pytest.approx(shares.max(1))
    assert table["late_predictions"].to_pylist() == [LABELS[place] for place in shares.argmax(1)]


def test_csv_holds_what_parquet_holds(trained):
    for place in ("p.csv", "p.parquet", "folder"):
        trained.done("predict", "job.yaml", "--model", "out", "--output", place)
    table = pyarrow.parquet.read_table(trained.folder / "p.parquet")
    assert pyarrow.csv.read_csv(trained.folder / "p.csv").equals(table)
    assert pyarrow.parquet.read_table(trained.folder / "folder/predictions.parquet").equals(table)


def test_a_row_is_predicted_alone_as_among_others(trained):
    lines = (trained.folder / "data.csv").read_text().splitlines()
    trained.data(lines[0], lines[120], name="one.csv")
    trained.done("predict", "job.yaml", "--model", "out", "--output", "all.parquet")
    trained.done("predict", "job.yaml", "--model", "out", "--dataset", "one.csv", "--output", "one.parquet")
    whole, one = (pyarrow.parquet.read_table(trained.folder / f"{name}.parquet") for name in ("all", "one"))
    assert one["late_probability"].to_pylist() == pytest.approx(whole["late_probability"].to_pylist()[119:120])


def test_rows_that_lack_an_input_stay_and_are_empty(workplace):
    drop = {"preprocessing": {"missing_value_strategy": "drop_row"}}
    workplace.job(lambda job: job["config"]["input_features"][0].update(drop))
    workplace.done("train", "job.yaml", "--output", "out")
    new = workplace.data("size,open,kind", "1,yes,a", ",no,b", "2,,", name="new.csv")
    out = workplace.done("predict", "job.yaml", "--model", "out", "--dataset", new, "--output", "p.parquet").out
    assert out.splitlines()[-1] == "new.csv: 3 rows predicted, 1 empty for want of an input: p.parquet"
    table = pyarrow.parquet.read_table(workplace.folder / "p.parquet")
    assert [value is None for value in table["late_predictions"].to_pylist()] == [False, True, False]
    assert all(column.null_count == 1 for column in table.columns)


def test_no_row_can_be_predicted(workplace):
    drop = {"preprocessing": {"missing_value_strategy": "drop_row"}}
    workplace.job(lambda job: job["config"]["input_features"][0].update(drop))
    workplace.done("train", "job.yaml", "--output", "out")
    new = workplace.data("size,open,kind", ",yes,a", ",no,b", name="new.csv")
    workplace.done("predict", "job.yaml", "--model", "out", "--dataset", new, "--output", "p.csv")
    lines = (workplace.folder / "p.csv").read_text().splitlines()
    assert lines[1:] == [",,,"] * 2


def test_every_type_of_output(workplace):
    """Numbers in their original units, labels, vectors as lists (in CSV as text with spaces)."""
    lines = (workplace.folder / "data.csv").read_text().splitlines()
    pairs = [f"{row % 5} {row % 3}" for row in range(200)]
    workplace.data(f"{lines[0]},v", *(f"{line},{pair}" for line, pair in zip(lines[1:], pairs, strict=True)))

    def change(job):
        job["config"]["input_features"] = [{"name": "open", "type": "binary"}]
        job["config"]["output_features"] = [
            {"name": "size", "type": "number", "preprocessing": {"normalization": "zscore"}},
            {"name": "kind", "type": "category"},
            {"name": "v", "type": "vector"},
        ]

    workplace.done("train", workplace.job(change), "--output", "out")
    for place in ("p.csv", "p.parquet"):
        workplace.done("predict", "job.yaml", "--model", "out", "--output", place)
    table = pyarrow.parquet.read_table(workplace.folder / "p.parquet")
    shares = [f"kind_probabilities_{label}" for label in "abc"]
    assert sorted(table.column_names) == sorted(
        ["size_predictions", "kind_predictions", "kind_probability", *shares, "v_predictions"]
    )
    assert set(table["kind_predictions"].to_pylist()) <= set("abc")
    assert all(len(vector) == 2 for vector in table["v_predictions"].to_pylist())
    texts = pyarrow.csv.read_csv(workplace.folder / "p.csv")["v_predictions"].to_pylist()
    assert [list(map(float, text.split())) for text in texts] == table["v_predictions"].to_pylist()
