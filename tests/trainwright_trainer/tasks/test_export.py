"""The command export: its files, its place, and what it refuses."""

from __future__ import annotations

import json

import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer import serving, train
from trainwright_trainer.export import files
from trainwright_trainer.export.transform import FILE
from trainwright_trainer.rundir import layout
from trainwright_trainer.tasks.export import export
from trainwright_trainer.tasks.trained_model import load_trained


@pytest.fixture
def run(workplace):
    """A trained model in `out`."""
    workplace.job()
    workplace.done("train", "job.yaml", "--output", "out")
    return workplace


def test_the_default_place_is_in_the_folder_of_the_run(run):
    for model in ("out", "out/model"):
        line = run.done("export", model, "--format", "safetensors", "--overwrite").out
        assert "out/export/safetensors (config.json, statistics.json, weights.safetensors, model.json)" in line
    assert (run.folder / "out/export/safetensors/weights.safetensors").is_file()


def test_a_run_with_the_name_model(workplace):
    """As of the file model.yaml."""
    workplace.done("train", workplace.job(name="model.json"))
    for place in ("out/model", "out/model/model"):
        workplace.done("export", place, "--format", "safetensors", "--overwrite")
        workplace.done("predict", "--model", place, "--dataset", "data.csv")
    assert {path.name for path in (workplace.folder / "out").iterdir()} == {"model"}
    assert (workplace.folder / "out/model/export/safetensors").is_dir()
    assert (workplace.folder / "out/model/predictions.parquet").is_file()


def test_an_export_replaces_a_folder_only_if_asked(run):
    run.done("export", "out", "--format", "safetensors", "--output", "served")
    line = run.refused("export", "out", "--format", "onnx", "--output", "served")
    assert line == "--output: served has 'config.json' in it: name another folder, or --overwrite"
    run.done("export", "out", "--format", "onnx", "--output", "served", "--overwrite")
    assert sorted(path.name for path in (run.folder / "served").iterdir()) == ["model.onnx", "transform.json"]


def test_the_layout_names_the_files_of_each_format():
    assert {files.ONNX, files.PT2, FILE} < set(layout.EXPORT_FILES)


@pytest.mark.parametrize(("output", "found"), [("out", "attempts/"), ("served", "notes.txt")])
def test_an_export_deletes_no_other_files(run, output, found):
    (run.folder / "served").mkdir()
    (run.folder / "served/notes.txt").touch()
    line = run.refused("export", "out", "--format", "onnx", "--output", output, "--overwrite")
    assert line == f"--output: {output} has '{found}' in it, which is no file of an export: name another folder"


@pytest.mark.parametrize(("model", "output"), [("out", "out/model"), ("served", "out/model"), ("served", "./served")])
def test_an_export_replaces_no_trained_model(run, model, output):
    run.done("export", "out", "--format", "safetensors", "--output", "served")
    before = {path: path.read_bytes() for path in (run.folder / output).iterdir()}
    for options in ((), ("--overwrite",)):
        line = run.refused("export", model, "--format", "onnx", "--output", output, *options)
        place = output.removeprefix("./")
        assert line == f"--output: {place} is a trained model, which an export does not replace: name another folder"
    assert {path: path.read_bytes() for path in (run.folder / output).iterdir()} == before


@pytest.mark.parametrize(
    ("word", "line"),
    [
        ("torchscript", "torch has deprecated it. Use torch_export for torch, or onnx for other runtimes."),
        ("onx", "'onx' is no format: did you mean 'onnx'?"),
        ("pickle", f"'pickle' is no format. The formats are {', '.join(layout.EXPORT_FORMATS)}."),
    ],
)
def test_other_formats_are_refused_before_any_work(workplace, word, line):
    assert line in workplace.refused("export", "gone", "--format", word)


def test_a_missing_model_and_a_missing_library_are_one_line(run, monkeypatch):
    assert "there is no model folder gone" in run.refused("export", "gone", "--format", "onnx")
    monkeypatch.setattr("trainwright_trainer.export.files.find_spec", lambda _: None)
    assert "pip install 'trainwright[export]'" in run.refused("export", "out", "--format", "onnx")


def test_serving_refuses_what_it_cannot_read_in_one_line(run):
    run.done("export", "out", "--format", "onnx", "--output", "served")
    path = run.folder / "served/transform.json"
    whole = json.loads(path.read_text())
    for change, line in [
        ({"format": 2}, "has format 2, this version reads 1"),
        ({"graph": "model.pt2"}, "is an export for torch"),
        ({"graph": "gone.onnx"}, "gone.onnx is missing"),
    ]:
        path.write_text(json.dumps({**whole, **change}))
        with pytest.raises(Mistakes, match=line):
            serving.load("served")
    path.write_text("{")
    with pytest.raises(Mistakes, match="is damaged"):
        serving.load("served")
    with pytest.raises(Mistakes, match="there is no"):
        serving.load("out")


def test_serving_names_missing_columns_and_bad_values(run):
    import pandas as pd

    run.done("export", "out", "--format", "onnx", "--output", "served")
    model = serving.load("served")
    with pytest.raises(Mistakes, match="'open' is not in the table"):
        model.predict(pd.DataFrame({"size": [1.0], "opne": ["yes"], "kind": ["a"]}))
    with pytest.raises(Mistakes, match="is text from row 2 on"):
        model.predict(pd.DataFrame({"size": ["1", "x"], "open": ["yes", "no"], "kind": ["a", "b"]}))
    with pytest.raises(Mistakes, match="holds no rows"):
        model.predict(pd.DataFrame({"size": [], "open": [], "kind": []}))
    one = model.predict(pd.DataFrame({"size": [1.0], "open": ["yes"], "kind": ["a"]}, index=[7]))
    assert list(one.index) == [7]


def test_serving_warns_as_predict_does(run):
    import pandas as pd

    run.done("export", "out", "--format", "onnx", "--output", "served")
    model = serving.load("served")
    rows = pd.DataFrame({"size": [1.0, None], "open": ["yes", "maybe"], "kind": ["new", "a"]})
    with pytest.warns(UserWarning, match="^the table: ") as caught:
        model.predict(rows)
    assert [one.filename for one in caught] == [__file__] * 2
    with pytest.warns(UserWarning, match="^the table: ") as expected:
        load_trained("out").predict(rows)
    lines = [str(one.message) for one in caught]
    assert lines == [str(one.message) for one in expected]
    assert "values that are no binary: 1" in lines[0]
    assert lines[1].endswith("not know: 1 (kind 1)")


def test_serving_takes_the_words_of_the_job_for_missing(workplace):
    import pandas as pd

    workplace.job(lambda job: job.update(datasetOptions={"naValues": ["999"]}))
    workplace.done("train", "job.yaml", "--output", "out")
    workplace.done("export", "out", "--format", "onnx", "--output", "served")
    rows = pd.DataFrame({"size": [1.0, 999], "open": ["yes", "no"], "kind": ["a", "b"]})
    with pytest.warns(UserWarning, match=r"^the table: missing cells: 1 \(size 1\)$"):
        serving.load("served").predict(rows)


@pytest.mark.parametrize("name", ['say "a"', "a\\", "a\nb", "embedding", "linear"])
def test_any_name_of_a_feature_is_exported(name, tmp_path):
    import pandas as pd

    rows = pd.DataFrame({name: ["a", "b", "c"] * 20, "y": range(60)})
    features = {"input_features": [{"name": name, "type": "category"}]}
    config = {**features, "output_features": [{"name": "y", "type": "number"}], "trainer": {"epochs": 1}}
    train({"config": config}, dataset=rows, output=tmp_path / "run", quiet=True)
    export(str(tmp_path / "run"), "onnx", str(tmp_path / "served"))
    found = serving.load(tmp_path / "served").predict(rows)
    assert found["y_predictions"].tolist() == pytest.approx(
        load_trained(tmp_path / "run").predict(rows)["y_predictions"]
    )


@pytest.mark.parametrize("name", ["linear", "squeeze"])
def test_any_name_of_an_output_is_exported(name, workplace):
    import pandas as pd

    workplace.job(lambda job: job["config"]["output_features"][0].update(name=name, column="late"))
    workplace.done("train", "job.yaml", "--output", "out")
    workplace.done("export", "out", "--format", "onnx", "--output", "served")
    rows = pd.read_csv(next(workplace.folder.glob("*.csv"))).head(20)
    found, expected = serving.load("served").predict(rows), load_trained("out").predict(rows)
    shares = [column for column in found if "probability" in column]
    assert shares
    assert found[shares].to_numpy() == pytest.approx(expected[shares].to_numpy(), abs=1e-5)


@pytest.mark.parametrize(
    ("inputs", "outputs", "path"),
    [("a a.lengths", "y", "config.input_features[1]"), ("a y.lengths", "y", "config.input_features[1]")],
)
def test_a_feature_with_the_name_of_the_lengths_of_another_is_refused(inputs, outputs, path, tmp_path):
    import pandas as pd

    names = inputs.split(), outputs.split()
    rows = pd.DataFrame({name: ["u v", "v", "w w"] * 20 for name in (*names[0], *names[1])})
    features = [[{"name": name, "type": "sequence"} for name in part] for part in names]
    config = {"input_features": features[0], "output_features": features[1], "trainer": {"epochs": 1}}
    train({"config": config}, dataset=rows, output=tmp_path / "run", quiet=True)
    with pytest.raises(Mistakes, match="is also the name of the lengths of another feature") as found:
        export(str(tmp_path / "run"), "onnx", str(tmp_path / "served"))
    assert found.value.problems[0].path == f"{path}.name"
