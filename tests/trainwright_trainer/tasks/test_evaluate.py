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


def test_it_evaluates_the_model_of_the_run_that_the_output_names(trained):
    """And not the one that the file trains by default, in out/job."""
    trained.done("train", trained.job(lambda job: job["config"]["trainer"].update(epochs=1), "other.yaml"))
    trained.done("evaluate", "other.yaml", "--output", "out")
    found, want = read(trained.folder / "out/evaluation.json"), read(trained.folder / "out/metrics.json")
    assert found["model"] == "out/model"
    assert found["scores"]["combined"] == pytest.approx(want["end"]["test"]["combined"], rel=1e-6)
    trained.done("evaluate", "other.yaml", "--output", "elsewhere")
    assert read(trained.folder / "elsewhere/evaluation.json")["model"] == "out/other/model"


def test_the_training_data_are_known_without_the_options_of_the_training(workplace):
    """Without the job, nothing names the delimiter, and all rows of the data would count."""
    path = workplace.folder / "data.csv"
    path.write_text(path.read_text().replace(",", ";"))
    workplace.done("train", workplace.job(lambda job: job.update(datasetOptions={"delimiter": ";"})), "--output", "out")
    out = workplace.done("evaluate", "--model", "out", "--dataset", "data.csv", "--output", "evaluated").out
    found, want = read(workplace.folder / "evaluated/evaluation.json"), read(workplace.folder / "out/metrics.json")
    assert found["part"] == "test"
    assert "test rows" in out
    assert found["scores"]["combined"] == pytest.approx(want["end"]["test"]["combined"], rel=1e-6)


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
    assert table["late"].to_pylist() == truth[rows].tolist()
    scores = read(trained.folder / "out/metrics.json")["end"]["test"]["late"]
    assert np.mean(right) == pytest.approx(scores["accuracy"])
    assert list(rows) == sorted(rows)
    assert 20 < len(rows) < 60


def test_predictions_with_probabilities(trained, truth):
    out = trained.done("predict", "job.yaml", "--model", "out", "--output", "p.parquet").out
    assert out == "data.csv: 200 rows predicted: p.parquet\n"
    table = pyarrow.parquet.read_table(trained.folder / "p.parquet")
    names = ["late_predictions", "late_probability", "late_probabilities_no", "late_probabilities_yes"]
    assert table.column_names == ["late", *names]
    shares = np.stack([table[name].to_numpy() for name in names[2:]], 1)
    assert shares.sum(1) == pytest.approx(np.ones(200))
    assert table["late_probability"].to_numpy() == pytest.approx(shares.max(1))
    assert table["late_predictions"].to_pylist() == [LABELS[place] for place in shares.argmax(1)]
    assert table["late"].to_pylist() == truth.tolist()


def test_csv_holds_what_parquet_holds(trained):
    for place in ("p.csv", "p.parquet", "folder"):
        trained.done("predict", "job.yaml", "--model", "out", "--output", place)
    table = pyarrow.parquet.read_table(trained.folder / "p.parquet")
    assert pyarrow.csv.read_csv(trained.folder / "p.csv").equals(table)
    assert pyarrow.parquet.read_table(trained.folder / "folder/predictions.parquet").equals(table)


def test_kept_columns_stand_beside_the_predictions(trained):
    lines = (trained.folder / "data.csv").read_text().splitlines()
    trained.data(f"id,{lines[0]}", *(f"n{row},{line}" for row, line in enumerate(lines[1:])), name="new.csv")
    options = ("--model", "out", "--dataset", "new.csv", "--output", "p.csv")
    for keep, first in {"id, kind": ["id", "kind", "late"], "all": ["id", "size", "open", "kind", "late"]}.items():
        trained.done("predict", "job.yaml", *options, "--keep", keep)
        table = pyarrow.csv.read_csv(trained.folder / "p.csv")
        assert table.column_names[: len(first) + 1] == [*first, "late_predictions"]
        assert table["id"].to_pylist() == [f"n{row}" for row in range(200)]


def test_a_kept_column_may_contain_a_comma(trained):
    lines = (trained.folder / "data.csv").read_text().splitlines()
    trained.data(f'"town, country",{lines[0]}', *(f"x,{line}" for line in lines[1:]), name="new.csv")
    options = ("--model", "out", "--dataset", "new.csv", "--output", "p.csv", "--keep", '"town, country", kind')
    trained.done("predict", "job.yaml", *options)
    table = pyarrow.csv.read_csv(trained.folder / "p.csv")
    assert table.column_names[:2] == ["town, country", "kind"]


def test_a_column_that_cannot_be_kept(trained):
    line = "job.yaml: --keep: 'kinds' is not in data.csv. Nearest: 'kind'."
    assert trained.refused("predict", "job.yaml", "--model", "out", "--keep", "kinds") == line
    lines = (trained.folder / "data.csv").read_text().splitlines()
    trained.data(f"late_probability,{lines[0]}", *(f"1,{line}" for line in lines[1:]), name="new.csv")
    line = "column 'late_probability' has the name of a prediction: rename it, or do not keep it"
    options = ("--model", "out", "--dataset", "new.csv", "--output", "p.csv", "--keep", "all")
    assert trained.refused("predict", "job.yaml", *options) == f"job.yaml: --keep: {line}"


def test_top_k_without_a_category(trained):
    line = "job.yaml: --top-k: acts on outputs of type category alone, and the model predicts 'late' (binary)"
    assert trained.refused("predict", "job.yaml", "--model", "out", "--top-k", "3") == line


def test_missing_cells_and_unknown_categories_are_one_line(trained):
    trained.data("size,open,kind", "1,,a", "?,no,z", "NA,no,", name="new.csv")
    out = trained.done("predict", "job.yaml", "--model", "out", "--dataset", "new.csv", "--output", "p.csv").out
    counts = "missing cells: 4 (size 2, open 1, kind 1) · categories that the model does not know: 1 (kind 1)"
    assert out.splitlines()[-2:] == [f"new.csv: {counts}", "new.csv: 3 rows predicted: p.csv"]


def test_blocks_give_what_one_block_gives(trained, monkeypatch):
    def predicted() -> pyarrow.Table:
        trained.done("predict", "job.yaml", "--model", "out", "--output", "p.parquet", "--keep", "size")
        trained.done("predict", "job.yaml", "--model", "out", "--output", "p.csv", "--keep", "size")
        trained.done("evaluate", "job.yaml", "--model", "out", "--output", "evaluated")
        return pyarrow.parquet.read_table(trained.folder / "p.parquet")

    whole, csv = predicted(), (trained.folder / "p.csv").read_text()
    scores = read(trained.folder / "evaluated/evaluation.json")
    monkeypatch.setattr("trainwright_trainer.data.rows.BLOCK_ROWS", 64)
    parts = predicted()
    probabilities = "late_probability"
    assert parts.drop_columns([probabilities])["size"].equals(whole["size"])
    assert parts[probabilities].to_numpy() == pytest.approx(whole[probabilities].to_numpy(), rel=1e-5)
    assert len((trained.folder / "p.csv").read_text().splitlines()) == len(csv.splitlines())
    again = read(trained.folder / "evaluated/evaluation.json")
    assert again["rows"] == scores["rows"]
    assert again["scores"]["late"] == pytest.approx(scores["scores"]["late"], rel=1e-5)


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
        ["size", "kind", "v", "size_predictions", "kind_predictions", "kind_probability", *shares, "v_predictions"]
    )
    assert table.schema.field("size").type == pyarrow.float64()
    assert table["v"].to_pylist() == pairs
    assert set(table["kind_predictions"].to_pylist()) <= set("abc")
    assert all(len(vector) == 2 for vector in table["v_predictions"].to_pylist())
    texts = pyarrow.csv.read_csv(workplace.folder / "p.csv")["v_predictions"].to_pylist()
    assert [list(map(float, text.split())) for text in texts] == table["v_predictions"].to_pylist()
    workplace.done("predict", "job.yaml", "--model", "out", "--output", "top.parquet", "--top-k", "2")
    top = pyarrow.parquet.read_table(workplace.folder / "top.parquet")
    assert not set(shares) & set(top.column_names)
    row = sorted((table[name][0].as_py() for name in shares), reverse=True)
    assert top["kind_top_k_probabilities"][0].as_py() == row[:2]
