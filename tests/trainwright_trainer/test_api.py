"""The Python API, with a data set in memory: what it does is what a file of the same rows does."""

from __future__ import annotations

import gc
import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from PIL import Image

from trainwright_api.config import ModelConfig, resolve
from trainwright_api.problems import Mistakes
from trainwright_trainer import evaluate, predict, train
from trainwright_trainer.api import load, validate
from trainwright_trainer.data.preprocess import prepare
from trainwright_trainer.errors import AlreadyDone
from trainwright_trainer.models.model import Model
from trainwright_trainer.tasks.given_data import path_of

from ..conftest import JOB

CONFIG = JOB["config"]


@pytest.fixture
def frame(workplace) -> pd.DataFrame:
    """The workplace's data."""
    found = pd.read_csv(workplace.folder / "data.csv")
    found["kind"] = found["kind"].astype("category")
    return found


def losses(folder: Path) -> list[float]:
    metrics = json.loads((folder / "metrics.json").read_text())
    return [part["combined"]["loss"] for one in metrics["rounds"] for part in one["scores"].values()]


def test_a_job_without_a_name_has_that_of_its_run_folder(frame, capsys):
    train({"config": CONFIG}, dataset=frame, output="out/by size")
    assert "\nby-size: cache written" in capsys.readouterr().out


def test_a_frame_trains_as_its_file_does(workplace, frame):
    from_file = train({**JOB, "dataset": "data.csv"}, output="file", quiet=True)
    from_frame = train({"config": CONFIG}, dataset=frame, output="frame", quiet=True)
    assert losses(workplace.folder / "frame") == losses(workplace.folder / "file")
    assert from_frame.test == from_file.test


@pytest.mark.parametrize("wrap", [lambda spec: spec, lambda spec: {"spec": spec, **HEAD}])
def test_a_frame_may_stand_in_the_job(workplace, frame, wrap):
    result = train(wrap({"dataset": frame, "config": CONFIG}), output="out", quiet=True)
    from_file = train({**JOB, "dataset": "data.csv"}, output="file", quiet=True)
    assert result.test["late"] == from_file.test["late"]
    assert (workplace.folder / "out/model/model.json").exists()


def test_paths_of_images_in_a_frame_start_at_the_working_folder(workplace):
    (workplace.folder / "pictures").mkdir()
    for name, color in (("light", 250), ("dark", 5)):
        Image.new("L", (8, 8), color).save(workplace.folder / f"pictures/{name}.png")
    names = ["light", "dark"] * 60
    frame = pd.DataFrame({"picture": [f"pictures/{name}.png" for name in names], "is_light": [1, 0] * 60})
    picture = {
        "name": "picture",
        "type": "image",
        "encoder": {"type": "stacked_cnn", "conv_layers": [{"num_filters": 2}]},
    }
    config = {"input_features": [picture], "output_features": [{"name": "is_light", "type": "binary"}]}
    result = train({"config": {**config, "trainer": {"epochs": 1}}}, dataset=frame, output="out", quiet=True)
    found = predict(dataset=frame, model="out", quiet=True)["is_light_probability"]
    loaded = load(result.model).predict(frame)["is_light_probability"]
    assert found.tolist() == pytest.approx(loaded.tolist())
    assert found[0] != pytest.approx(found[1])


def test_a_frame_in_the_job_gives_its_predictions_as_a_frame(frame):
    train({"config": CONFIG}, dataset=frame, output="out", quiet=True)
    new = frame.tail(7)
    assert predict({"dataset": new, "model": "out"}, quiet=True).index.equals(new.index)


HEAD = {"apiVersion": "trainwright.dev/v1alpha1", "kind": "TrainingJob", "metadata": {"name": "a"}}


def test_nothing_of_the_frame_stays_but_the_cache(workplace, frame, tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("tmp")
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    train({"config": CONFIG}, dataset=frame, output="out", quiet=True)
    assert list(folder.iterdir()) == []
    assert {path.name for path in workplace.folder.iterdir()} == {".trainwright_cache", "data.csv", "out"}


def test_the_cache_of_a_frame_can_lie_elsewhere(workplace, frame):
    train({"config": CONFIG}, dataset=frame, output="out", cache_dir=workplace.folder / "kept", quiet=True)
    assert {path.name for path in workplace.folder.iterdir()} == {"kept", "data.csv", "out"}


def test_the_same_rows_hit_the_cache(frame, capsys):
    job = {"config": CONFIG}
    train(job, dataset=frame, output="one")
    assert "cache written" in capsys.readouterr().out
    train(job, dataset=frame.copy(), output="two")
    assert "cache hit" in capsys.readouterr().out
    frame.loc[0, "size"] += 1
    train(job, dataset=frame, output="three")
    assert "cache written" in capsys.readouterr().out


def test_a_model_measures_and_predicts_frames(workplace, frame):
    trained = train({"config": CONFIG}, dataset=frame, output="out", quiet=True)
    assert evaluate(dataset=frame, model="out", output="e", quiet=True)["late"] == pytest.approx(trained.test["late"])
    new = frame.drop(columns="late").tail(7)
    found = predict(dataset=new, model="out", output="p.csv", keep=["kind"], quiet=True)
    assert found.index.equals(new.index)
    written = pd.read_csv(workplace.folder / "p.csv")
    pd.testing.assert_frame_equal(found.reset_index(drop=True), written)


def test_predictions_without_an_output_are_only_returned(workplace, frame, capsys):
    train({"config": CONFIG}, dataset=frame, output="out", quiet=True)
    before = sorted(workplace.folder.rglob("*"))
    assert len(predict(dataset=frame, model="out")) == len(frame)
    assert sorted(workplace.folder.rglob("*")) == before
    assert capsys.readouterr().out.endswith(f"{len(frame)} rows predicted\n")


def test_a_run_on_a_frame_goes_on(workplace, frame):
    longer, longest = ({**CONFIG, "trainer": {**CONFIG["trainer"], "epochs": epochs}} for epochs in (2, 3))
    train({"config": CONFIG}, dataset=frame, output="out", quiet=True)
    train({"config": longer}, dataset=frame, output="out", resume=True, quiet=True)
    train({"config": longer}, dataset=frame, output="whole", quiet=True)
    assert losses(workplace.folder / "out") == losses(workplace.folder / "whole")
    with pytest.raises(Mistakes, match="its content is not the data that the run was begun with"):
        train({"config": longest}, dataset=frame.head(100), output="out", resume=True, quiet=True)


def models() -> int:
    return sum(type(one) is Model for one in gc.get_objects())


def test_a_trained_model_is_freed_with_its_last_reference(frame):
    """The cycles of a large model would stay for long: the collector counts objects, not their bytes."""
    gc.collect()
    gc.disable()
    try:
        before = models()
        train({"config": CONFIG}, dataset=frame, output="out", quiet=True)
        load("out").predict(frame)
        assert models() == before
    finally:
        gc.enable()


@pytest.mark.usefixtures("workplace")
def test_messages_name_arguments_and_no_options(frame):
    train({"config": CONFIG}, dataset=frame, output="out", quiet=True)
    with pytest.raises(Mistakes, match="Use resume=True to go on with it, overwrite=True to start anew"):
        train({"config": CONFIG}, dataset=frame, output="out", quiet=True)
    with pytest.raises(AlreadyDone, match="to start anew, use overwrite=True"):
        train({"config": CONFIG}, dataset=frame, output="out", resume=True, quiet=True)
    with pytest.raises(Mistakes, match=r"^keep: 'sise' is not in"):
        load("out").predict(frame, keep=["sise"])


def test_a_run_is_not_resumed_and_overwritten(workplace, frame):
    train({"config": CONFIG}, dataset=frame, output="out", quiet=True)
    before = sorted((workplace.folder / "out").rglob("*"))
    with pytest.raises(Mistakes, match="resume: goes on with a run, overwrite starts anew: give one of them"):
        train({"config": CONFIG}, dataset=frame, output="out", resume=True, overwrite=True, quiet=True)
    assert sorted((workplace.folder / "out").rglob("*")) == before


def test_a_table_is_checked_as_a_file(frame):
    job = {"config": CONFIG}
    for found in (validate(job, dataset=frame), validate({**job, "dataset": frame})):
        assert all(notice.startswith("on a cluster: ") for notice in found)
    with pytest.raises(Mistakes, match=r"config\.input_features\[0\]\.column: 'size' is not in DataFrame\.parquet"):
        validate(job, dataset=frame.drop(columns="size"))


@pytest.mark.parametrize("threads", [0, -1, "2", 1.5])
def test_a_number_of_threads_is_at_least_one(frame, threads):
    with pytest.raises(Mistakes, match="threads: expected a whole number from 1 to "):
        train({"config": CONFIG}, dataset=frame, threads=threads)


def columns(dataset: str) -> dict[str, list]:
    config = resolve(ModelConfig.model_validate(CONFIG))
    data = prepare(config, dataset, seed=1, cache_dir="cache")
    data.finish()
    return {name: column.to_pylist() for name, column in data.columns.items()}


def test_its_columns_are_those_of_parquet(workplace, frame):
    rows = np.arange(len(frame))
    frame["size"] = frame["size"].mask(rows % 5 == 0)
    frame["open"] = frame["open"].where(rows % 7 != 0, None)
    frame.to_parquet(workplace.folder / "data.parquet")
    expected = columns("data.parquet")
    assert None not in expected["size"]
    for table in (frame, frame.set_index("open", drop=False), pa.Table.from_pandas(frame)):
        with path_of(table) as path:
            assert path is not None
            assert columns(path) == expected


@pytest.mark.parametrize(
    ("job", "line"),
    [
        ({"dataset": [1, 2], "config": CONFIG}, "dataset: expected a path, a pandas DataFrame or an Arrow table, "
                                                "found an object of type list"),
        (pd.DataFrame({"size": [1]}), "expected a job's file or its keys and values, found a DataFrame"),
        ({"dataset": "d", "config": {**CONFIG, "trainer": object()}}, "the job holds what no file can hold: "
                                                                     "an object of type object"),
    ],
)  # fmt: skip
def test_what_is_no_job_is_one_line(workplace, job, line):
    with pytest.raises(Mistakes) as caught:
        train(job, output="out", quiet=True)
    assert str(caught.value) == line
    assert not (workplace.folder / "out").exists()


def test_a_mistake_in_a_frame_names_the_column_and_prints_no_row(frame):
    with pytest.raises(Mistakes) as caught:
        train({"config": CONFIG}, dataset=frame.rename(columns={"size": "sise"}), output="out", quiet=True)
    assert str(caught.value) == (
        "config.input_features[0].column: 'size' is not in DataFrame.parquet. Nearest: 'sise'."
    )


@pytest.mark.parametrize(
    ("task", "name", "hint"),
    [
        (train, "outptu", ". Did you mean 'output'?"),
        (train, "sead", ". Did you mean 'seed'?"),
        (predict, "columns", ""),
    ],
)
def test_an_unknown_argument_is_refused_by_the_function_that_was_called(task, name, hint):
    with pytest.raises(TypeError) as refused:
        task({}, **{name: 1})
    assert str(refused.value) == f"{task.__name__}() got an unexpected keyword argument {name!r}{hint}"


def test_numbers_of_numpy_and_paths_are_plain(workplace):
    trainer = {**CONFIG["trainer"], "epochs": np.int64(1), "learning_rate": np.float64(0.01)}
    job = {"dataset": workplace.folder / "data.csv", "config": {**CONFIG, "trainer": trainer}}
    assert train(job, output=Path("out"), quiet=True).best_epoch == 0


@pytest.mark.usefixtures("workplace")
def test_a_path_may_be_any_path():
    class Somewhere(os.PathLike):
        def __fspath__(self) -> str:
            return "data.csv"

    train({"config": CONFIG}, dataset=Somewhere(), output="out", quiet=True)
