"""A run, from a job file to its artifacts, on the command line and from Python."""

from __future__ import annotations

import json
import os

import pytest

import trainwright_trainer
from trainwright_api.problems import Mistakes
from trainwright_trainer.errors import AlreadyDone


def preprocessing(**section):
    return lambda job: job["config"].update(preprocessing=section)


def read(path):
    return json.loads(path.read_text())


def test_what_a_run_leaves_behind(workplace):
    ended = workplace.done("train", workplace.job())
    left = workplace.folder / "out/job"
    names = ["attempts", "checkpoints", "job.yaml", "logs", "metrics.json", "model", "report.html", "resolved.json"]
    assert sorted(path.name for path in left.iterdir()) == names
    assert (left / "job.yaml").read_text() == (workplace.folder / "job.yaml").read_text()
    assert read(left / "attempts/1/outcome.json")["class"] == "done"
    assert ended.out.splitlines()[-1].endswith(" · model out/job/model · report out/job/report.html")


OLD = """\
input_features:
  - {name: size, type: numerical, encoder: dense, fc_size: 8}
  - {name: open, type: binary}
  - {name: kind, type: category, embedding_size: 4}
output_features:
  - {name: late, type: binary, fc_layers: [{fc_size: 4}], weight_regularization: null}
combiner: {type: concat, num_fc_layers: 1, fc_size: 8}
preprocessing: {numerical: {normalization: minmax}, force_split: true, split_probabilities: [0.6, 0.2, 0.2]}
training: {epochs: 1, batch_size: 32, decay: true, decay_rate: 0.9, optimizer: {type: adam, beta1: 0.8}}
"""


def test_an_old_config_trains_as_its_upgraded_file(workplace):
    """The upgraded file has no notice, and the same curve to the bit; the run keeps the upgraded job."""
    workplace.job()
    workplace.data(OLD, name="old.yaml")
    given = ("--dataset", "data.csv")
    workplace.data(workplace.run("validate", "old.yaml", "--write", *given).out, name="new.yaml")
    assert workplace.done("validate", "new.yaml", *given).out == "new.yaml: valid\n"
    for name in ("old", "new"):
        workplace.done("train", f"{name}.yaml", *given, "--output", name)
    old, new = (workplace.folder / name for name in ("old", "new"))
    assert read(old / "metrics.json")["end"]["test"] == read(new / "metrics.json")["end"]["test"]
    resolved = [read(run / "resolved.json")["resolved"] | {"name": ""} for run in (old, new)]
    assert resolved[0] == resolved[1]
    assert "training" not in (old / "job.yaml").read_text()


def test_the_second_run_reads_no_raw_byte(workplace):
    """The file keeps its size and its time, but all its bytes are zero."""
    workplace.done("train", workplace.job(), "--output", "one")
    path = workplace.folder / "data.csv"
    before = path.stat()
    with path.open("r+b") as file:
        file.write(bytes(before.st_size))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert "job: cache hit " in workplace.done("train", "job.yaml", "--output", "two").out
    one, two = (read(workplace.folder / run / "metrics.json")["end"]["test"] for run in ("one", "two"))
    assert one == two


def test_preprocess_then_train(workplace):
    first = workplace.done("preprocess", workplace.job()).out
    assert first.startswith("data.csv: 200 rows; cache ")
    assert first.endswith(" written\n")
    assert workplace.done("preprocess", "job.yaml").out.endswith(" was there\n")
    assert not (workplace.folder / "out").exists()
    assert "job: cache hit " in workplace.done("train", "job.yaml").out


def test_a_cache_of_its_own(workplace):
    workplace.done("preprocess", workplace.job(lambda job: job.update(backend={"cache_dir": "kept"})))
    assert (workplace.folder / "kept/features").is_dir()
    assert not (workplace.folder / ".trainwright_cache").exists()


def test_the_cache_of_the_command_line_replaces_that_of_the_file(workplace):
    """So the file of a cluster, whose cache is in a store, also trains on a laptop."""
    job = workplace.job(lambda job: job.update(backend={"cache_dir": "s3://bucket/cache"}))
    workplace.done("train", job, "--cache-dir", "kept")
    assert (workplace.folder / "kept/features").is_dir()


@pytest.mark.parametrize(
    ("task", "left"), [("preprocess", None), ("train", "report.html"), ("experiment", "test_predictions.parquet")]
)
def test_run_does_what_the_file_names(workplace, task, left):
    workplace.done("run", workplace.job(lambda job: job.update(task=task)))
    assert (workplace.folder / "out").exists() == (left is not None)
    assert left is None or (workplace.folder / "out/job" / left).exists()


def test_an_experiment_that_is_killed_before_its_predictions_goes_on(workplace):
    workplace.done("train", workplace.job(), "--output", "out")
    out = workplace.done("experiment", "job.yaml", "--output", "out", "--resume").out
    assert "test rows predicted: out/test_predictions.parquet\n" in out
    assert "out: job is done." in out
    (workplace.folder / "out/test_predictions.parquet").unlink()
    workplace.data(*(workplace.folder / "data.csv").read_text().splitlines()[:100])
    assert workplace.refused("experiment", "job.yaml", "--output", "out", "--resume") == (
        "job.yaml: dataset: its content is not the data that the run was begun with"
    )


def test_seeds(workplace):
    workplace.job()
    folders = {"a": 3, "b": 3, "c": 4}
    for folder, seed in folders.items():
        workplace.done("train", "job.yaml", "--output", folder, "--seed", str(seed))
    a, b, c = (read(workplace.folder / folder / "metrics.json")["end"]["test"] for folder in folders)
    assert a == b
    assert a != c
    assert read(workplace.folder / "a/resolved.json")["resolved"]["seed"] == 3


@pytest.mark.parametrize("arguments", [("--resume",), ("--resume", "out/job"), ("--output", "out/job", "--resume")])
def test_resume_trains_further(workplace, arguments):
    workplace.done("train", workplace.job())
    workplace.job(lambda job: job["config"]["trainer"].update(epochs=2))
    out = workplace.done("train", "job.yaml", *arguments).out
    assert "attempt 2 goes on from epoch 1, step 5" in out
    rounds = read(workplace.folder / "out/job/metrics.json")["rounds"]
    assert [(row["attempt"], row["epoch"]) for row in rounds] == [(1, 0), (2, 1)]


def split(*shares):
    return preprocessing(split={"type": "random", "probabilities": list(shares)})


def test_a_split_without_test_rows(workplace):
    out = workplace.done("experiment", workplace.job(split(0.8, 0.2, 0.0)), "--output", "out").out
    assert " / 0 test · " in out
    assert "no test row to predict: the split has none\n" in out
    assert read(workplace.folder / "out/metrics.json")["end"]["test"] == {}
    assert " test " not in next(line for line in out.splitlines() if line.startswith("done in"))
    assert workplace.refused("evaluate", "job.yaml", "--model", "out", "--output", "e") == (
        "job.yaml: dataset: the model was trained on 'data.csv' without test rows. Give other data with --dataset."
    )


def test_a_split_without_validation_rows_keeps_the_last_weights(workplace):
    def change(job):
        split(0.8, 0.0, 0.2)(job)
        job["config"]["trainer"]["epochs"] = 3

    workplace.done("train", workplace.job(change), "--output", "out")
    metrics = read(workplace.folder / "out/metrics.json")
    assert [list(row["scores"]) for row in metrics["rounds"]] == [["train"]] * 3
    assert metrics["end"]["best_epoch"] == 2


def test_a_split_of_training_rows_alone(workplace):
    assert " · 200 train / 0 validation / 0 test · " in workplace.done("train", workplace.job(split(1, 0, 0))).out


class TestPython:
    """`trainwright_trainer.train`."""

    def test_a_file(self, workplace, capsys):
        result = trainwright_trainer.train(workplace.job(), output="out", quiet=True)
        assert capsys.readouterr() == ("", "")
        assert result.test == read(workplace.folder / "out/metrics.json")["end"]["test"]
        assert (str(result.model), str(result.report)) == ("out/model", "out/report.html")
        assert (result.reason, result.best_epoch, len(result.history)) == ("epochs", 0, 1)

    def test_a_dictionary(self, workplace):
        whole = read(workplace.folder / workplace.job())
        data = workplace.folder / whole.pop("dataset")
        result = trainwright_trainer.train(whole, dataset=data, output=workplace.folder / "mine", seed=3, quiet=True)
        assert result.model == workplace.folder / "mine/model"

    def test_mistakes_are_raised_and_nothing_is_printed(self, workplace, capsys):
        whole = read(workplace.folder / workplace.job())
        whole["config"]["input_features"][0]["name"] = "sise"
        with pytest.raises(Mistakes, match=r"'sise' is not in data\.csv\. Nearest: 'size'\."):
            trainwright_trainer.train(whole, quiet=True)
        assert capsys.readouterr() == ("", "")

    def test_a_run_that_is_done(self, workplace):
        trainwright_trainer.train(workplace.job(), output="out", quiet=True)
        with pytest.raises(AlreadyDone, match="job is done"):
            trainwright_trainer.train("job.yaml", output="out", resume=True, quiet=True)
        trainwright_trainer.train("job.yaml", output="out", overwrite=True, quiet=True)

    def test_what_is_printed_is_what_the_program_prints(self, workplace, capsys):
        trainwright_trainer.train(workplace.job(), output="out")
        assert capsys.readouterr().out.startswith("job: 200 rows · ")
