"""A loaded model on tables in memory: what it predicts is what `trainwright predict` writes for the file."""

from __future__ import annotations

from functools import partial

import pandas as pd
import polars
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import trainwright
from trainwright_api.problems import Mistakes
from trainwright_trainer.report.notebook import embedded


@pytest.fixture
def trained(workplace):
    workplace.done("train", workplace.job(), "--output", "out")
    workplace.done("predict", "job.yaml", "--model", "out", "--output", "p.parquet")
    return workplace


@pytest.fixture
def expected(trained) -> list[float]:
    return pq.read_table(trained.folder / "p.parquet")["late_probability"].to_pylist()


@pytest.mark.parametrize(
    ("kind", "read"),
    [
        (pd.DataFrame, pd.read_csv),
        (polars.DataFrame, polars.read_csv),
        (pa.Table, pyarrow.csv.read_csv),
        (pa.Table, str),
    ],
)
def test_the_same_kind_of_table_comes_back(expected, kind, read):
    found = trainwright.load("out").predict(read("data.csv"))
    assert isinstance(found, kind)
    assert (
        list(found["late_probability"] if kind is not pa.Table else found["late_probability"].to_pylist()) == expected
    )
    names = found.column_names if kind is pa.Table else list(found.columns)
    assert names[:2] == ["late", "late_predictions"]


@pytest.mark.usefixtures("trained")
def test_the_index_of_pandas_stays():
    frame = pd.read_csv("data.csv").sample(20, random_state=1)
    found = trainwright.load("out/model").predict(frame, keep=["size"])
    assert found.index.equals(frame.index)
    assert found["size"].equals(frame["size"])
    joined = frame.join(found.drop(columns=["size", "late"]))
    assert joined["late_probability"].notna().all()


@pytest.mark.usefixtures("trained")
@pytest.mark.parametrize("top_k", ["2", 2.5, 0])
def test_a_top_k_that_is_no_whole_number_is_one_line(top_k):
    with pytest.raises(Mistakes, match=f"top_k: {top_k!r}: expected a whole number of at least 1"):
        trainwright.load("out").predict("data.csv", top_k=top_k)


@pytest.mark.usefixtures("trained")
def test_one_row_and_all_columns():
    row = pd.read_csv("data.csv").drop(columns="late").tail(1)
    found = trainwright.load("out").predict(row, keep=["all"])
    assert list(found.columns)[:4] == ["size", "open", "kind", "late_predictions"]


@pytest.mark.usefixtures("trained")
@pytest.mark.parametrize("kind", [polars.Categorical, polars.Enum(["a", "b", "c"])])
def test_categories_of_polars(kind):
    plain = polars.read_csv("data.csv")
    coded = plain.with_columns(polars.col("kind").cast(kind))
    model = trainwright.load("out")
    assert model.predict(coded, keep=["all"]).equals(model.predict(plain, keep=["all"]))
    found = trainwright.train("job.yaml", dataset=coded, output="coded", quiet=True)
    assert found.test == trainwright.train("job.yaml", dataset=plain, output="plain", quiet=True).test


@pytest.mark.parametrize("kind", [polars.List(polars.Categorical), polars.Array(polars.Categorical, 2)])
def test_lists_of_categories_of_polars(workplace, kind):
    def with_a_set(job):
        job["config"]["input_features"].append({"name": "marks", "type": "set"})

    table = polars.read_csv("data.csv")
    plain = table.with_columns(polars.concat_list("kind", polars.lit("z")).alias("marks"))
    coded = plain.with_columns(polars.col("marks").cast(polars.List(polars.Categorical)).cast(kind))
    workplace.job(with_a_set)
    found = trainwright.train("job.yaml", dataset=coded, output="coded", quiet=True)
    assert found.test == trainwright.train("job.yaml", dataset=plain, output="plain", quiet=True).test
    model = trainwright.load("coded")
    assert model.predict(coded, keep=["marks"])["marks"].to_list() == plain["marks"].to_list()
    assert model.predict(coded).equals(model.predict(plain))
    kept = trainwright.predict(dataset=coded, model="coded", output="kept.parquet", keep=["marks"], quiet=True)
    assert kept["marks"].to_list() == plain["marks"].to_list()


@pytest.mark.usefixtures("trained")
def test_an_evaluation_is_that_of_the_command():
    frame = pd.read_csv("data.csv").head(50)
    frame.to_csv("new.csv", index=False)
    found = trainwright.load("out").evaluate(frame)
    of_file = trainwright.evaluate(dataset="new.csv", model="out", output="e", quiet=True)
    assert found.scores == of_file.scores
    assert (found.rows, found.part) == (50, "given")
    assert found._repr_html_() == embedded(found.page)
    assert "roc_auc" in found["late"]


def test_texts_that_counted_as_missing_in_training_do_so_in_new_tables(workplace):
    lines = (workplace.folder / "data.csv").read_text().splitlines()
    workplace.data(lines[0], "unknown,yes,a,no", *lines[2:])
    workplace.done(
        "train", workplace.job(lambda job: job.update(datasetOptions={"naValues": ["unknown"]})), "--output", "out"
    )
    model, frame = trainwright.load("out"), pd.read_csv("data.csv")
    with pytest.warns(UserWarning, match="missing cells: 1"):
        of_frame = model.predict(frame)
    with pytest.warns(UserWarning, match="missing cells: 1"):
        of_path = model.predict("data.csv").to_pandas()
    pd.testing.assert_frame_equal(of_frame, of_path)
    assert frame["size"][0] == "unknown"


def test_texts_of_polars_that_counted_as_missing(workplace):
    workplace.done(
        "train", workplace.job(lambda job: job.update(datasetOptions={"naValues": ["a"]})), "--output", "out"
    )
    plain = polars.read_csv("data.csv")
    for frame in (plain, plain.with_columns(polars.col("kind").cast(polars.Categorical))):
        with pytest.warns(UserWarning, match="missing cells: "):
            trainwright.load("out").predict(frame)


def test_numbers_that_counted_as_missing_in_training_do_so_in_new_tables(workplace):
    lines = (workplace.folder / "data.csv").read_text().splitlines()
    workplace.data(lines[0], "999,yes,a,no", *lines[2:])
    workplace.done(
        "train", workplace.job(lambda job: job.update(datasetOptions={"naValues": ["999"]})), "--output", "out"
    )
    frame = pd.read_csv("data.csv").astype({"size": float})
    with pytest.warns(UserWarning, match="missing cells: 1"):
        trainwright.load("out").predict(frame)
    assert frame["size"][0] == 999


@pytest.mark.usefixtures("trained")
def test_missing_cells_and_unknown_categories_are_one_warning():
    frame = pd.read_csv("data.csv").head(4).astype({"size": float})
    frame.loc[0, "size"], frame.loc[1, "kind"] = None, "new"
    model = trainwright.load("out")
    line = r"^the table: missing cells: 1 \(size 1\) · categories that the model does not know: 1 \(kind 1\)$"
    for act in (model.predict, model.evaluate):
        with pytest.warns(UserWarning, match=line) as caught:
            act(frame)
        assert [warning.filename for warning in caught] == [__file__]


def test_it_writes_nothing(trained):
    before = trained.files()
    model = trainwright.load("out")
    model.predict(pd.read_csv("data.csv"))
    model.evaluate(pd.read_csv("data.csv"))
    assert trained.files() == before


@pytest.mark.usefixtures("trained")
@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"x": [1]}, "dataset: expected a path, a pandas DataFrame or an Arrow table, found an object of type dict"),
        (pd.Series([1.0]),
         "dataset: expected a path, a pandas DataFrame or an Arrow table, found an object of type Series"),
        (pd.DataFrame({"sise": [1.0], "open": ["yes"], "kind": ["a"]}),
         "config.input_features[0].column: 'size' is not in the table. Nearest: 'sise'."),
        (pd.DataFrame({"size": [], "open": [], "kind": []}), "dataset: 'the table' holds no rows."),
        ("nowhere.csv", "dataset: 'nowhere.csv' does not exist."),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_one_line(given, line):
    with pytest.raises(trainwright.Mistakes) as caught:
        trainwright.load("out").predict(given)
    assert str(caught.value) == line


@pytest.mark.usefixtures("trained")
def test_columns_to_keep_are_a_list():
    frame = pd.read_csv("data.csv")
    with_file = partial(trainwright.predict, "job.yaml", dataset=frame, model="out")
    for act in (partial(trainwright.load("out").predict, frame), with_file):
        with pytest.raises(trainwright.Mistakes) as caught:
            act(keep="kind")
        assert str(caught.value) == "keep: expected a list of columns, found the text 'kind': write ['kind']"


@pytest.mark.usefixtures("trained")
def test_a_model_shows_its_inputs_and_outputs():
    assert repr(trainwright.load("out")) == "<model out: 3 inputs → late (binary)>"


@pytest.mark.usefixtures("workplace")
def test_no_model_is_one_line():
    with pytest.raises(trainwright.Mistakes, match="out"):
        trainwright.load("out")
