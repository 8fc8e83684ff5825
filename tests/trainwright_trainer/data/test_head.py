"""The check of a data set's head, before the data are read."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from trainwright_api.checks.load import loads
from trainwright_api.config import resolve
from trainwright_trainer.data.head import look, named_columns
from trainwright_trainer.data.selection import features_of, wanted_columns

CONFIG = {
    "input_features": [{"name": "age", "type": "number"}, {"name": "kind", "type": "category", "column": "plan"}],
    "output_features": [{"name": "left", "type": "binary"}],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working folder, to which paths are relative."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text("age,plan,left\n1,a,0\n")
    return tmp_path


def lines(dataset, config=CONFIG, **spec):
    head = look({"dataset": str(dataset), "config": config, **spec})
    return [str(problem) for problem in head.problems]


def with_split(**split):
    return {**CONFIG, "preprocessing": {"split": split}}


def test_a_good_data_set_draws_no_word(folder):
    for place in ("data.csv", folder / "data.csv", f"file://{folder}/data.csv", folder, "*.csv"):
        head = look({"dataset": str(place), "config": CONFIG})
        assert (head.problems, head.notes, head.failure) == ((), (), None)


@pytest.mark.usefixtures("folder")
def test_a_data_set_that_is_not_there_is_named_with_the_nearest():
    assert lines("date.csv") == ["dataset: 'date.csv' does not exist. Nearest: 'data.csv'."]
    assert lines("data.xls") == ["dataset: 'data.xls' does not exist. Nearest: 'data.csv'."]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_columns_that_are_missing_are_reported_with_the_nearest(folder, ending):
    pq.write_table(pa.table({"agee": [1], "left": [0]}), folder / "other.parquet")
    (folder / "other.csv").write_text("agee,left\n1,0\n")
    assert lines(f"other.{ending}") == [
        f"config.input_features[0].column: 'age' is not in other.{ending}. Nearest: 'agee'.",
        f"config.input_features[1].column: 'plan' is not in other.{ending}.",
    ]


@pytest.mark.usefixtures("folder")
def test_the_column_of_a_split_is_asked_for_too():
    expected = "config.preprocessing.split.column: {!r} is not in data.csv."
    assert lines("data.csv", with_split(type="fixed")) == [expected.format("split")]
    assert lines("data.csv", with_split(type="hash", column="id")) == [expected.format("id")]
    assert lines("data.csv", with_split(type="random")) == []


@pytest.mark.usefixtures("folder")
def test_mistakes_elsewhere_hide_no_column():
    features = [{"name": "age", "type": "numbr"}, {"type": "number"}, None, {"name": "size", "encoder": 5}]
    assert lines("data.csv", {"input_features": features, "output_features": "left", "trainer": 3}) == [
        "config.input_features[3].column: 'size' is not in data.csv."
    ]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("config", [None, 5, [], {"preprocessing": {"split": 3}}, {"preprocessing": []}])
def test_what_is_malformed_names_no_column(config):
    assert lines("data.csv", config) == []
    assert look({"config": config}).problems == ()


@pytest.mark.usefixtures("folder")
def test_no_store_is_asked():
    for scheme in ("s3", "gs"):
        head = look({"dataset": f"{scheme}://bucket/data.csv", "config": CONFIG})
        assert head.notes == ("dataset lies in a store: its columns are looked at when the job runs",)
    assert look({"dataset": "hdfs://bucket/data.csv", "config": CONFIG}) == look({})


@pytest.mark.usefixtures("folder")
def test_what_lies_on_a_volume_of_the_pods_need_not_be_here():
    mounted = {"volumeMounts": [{"name": "data", "mountPath": "/nowhere/data"}]}
    head = look({"dataset": "/nowhere/data/a.csv", "config": CONFIG, "podTemplate": mounted})
    assert (head.problems, len(head.notes)) == ((), 1)
    assert lines("/nowhere/other/a.csv", podTemplate=mounted) == ["dataset: '/nowhere/other/a.csv' does not exist."]


def test_json_lines_show_their_columns_in_every_row_only(folder):
    (folder / "data.jsonl").write_text(json.dumps({"other": 1}) + "\n")
    head = look({"dataset": "data.jsonl", "config": CONFIG})
    assert head.problems == ()
    assert "its columns are looked at when the job runs" in head.notes[0]


def test_a_file_that_is_none_of_its_format_is_a_mistake(folder):
    (folder / "data.parquet").write_bytes(b"nothing")
    (line,) = lines("data.parquet")
    assert line.startswith("dataset: 'data.parquet' is no Parquet file")


@pytest.mark.usefixtures("folder")
def test_a_file_that_nobody_may_read_is_no_mistake_of_the_job(monkeypatch):
    def refused(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refused)
    head = look({"dataset": "data.csv", "config": CONFIG})
    assert head.problems == ()
    assert "cannot be read (Permission denied)" in str(head.failure)


@pytest.mark.parametrize(
    "config",
    [CONFIG, with_split(type="fixed"), with_split(type="hash", column="x"), with_split(column="x", type="fixed")],
)
def test_the_columns_are_those_that_training_reads(config):
    job = {"dataset": "data.csv", "config": config}
    resolved = resolve(loads(json.dumps(job), "job.json").job.spec.config)
    assert named_columns(config) == wanted_columns(features_of(resolved), resolved.preprocessing)


def test_the_options_of_the_job_are_used(folder):
    (folder / "data.csv").write_text("age;plan;left\n1;a;0\n")
    found = look({"dataset": "data.csv", "config": CONFIG})
    line = "dataset 'data.csv': read with delimiter ';', as its first rows show; datasetOptions sets another"
    assert (found.problems, found.notes) == ((), (line,))
    for delimiter, problems in ((";", 0), (",", 1)):
        head = look({"dataset": "data.csv", "config": CONFIG, "datasetOptions": {"delimiter": delimiter}})
        assert (len(head.problems), head.notes) == (problems, ())
    wrong = look({"dataset": "data.csv", "config": CONFIG, "datasetOptions": {"delimiter": 5}})
    assert wrong.problems == ()
