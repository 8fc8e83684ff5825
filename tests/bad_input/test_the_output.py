"""Folders that must not be written to, runs that are not there, and models that are none."""

from __future__ import annotations

import json

import pytest


def epochs(count):
    return lambda job: job["config"]["trainer"].update(epochs=count)


@pytest.fixture
def trained(workplace):
    """A finished run in `out`."""
    workplace.done("train", workplace.job(), "--output", "out")
    return workplace


def test_another_run(trained):
    assert trained.refused("train", "job.yaml", "--output", "out") == (
        "job.yaml: out holds another run (job, 1 checkpoint, ended: done). "
        "Use --resume to go on with it, --overwrite to start anew, or another --output."
    )


def test_overwrite_starts_anew(trained):
    before = trained.folder / "out/metrics.json"
    first = json.loads(before.read_text())["end"]["test"]
    assert "done in" in trained.done("train", "job.yaml", "--output", "out", "--overwrite").out
    assert json.loads(before.read_text())["end"]["test"] == first
    assert [path.name for path in (trained.folder / "out/attempts").iterdir()] == ["2"]


def test_other_files(workplace):
    workplace.data("my thesis", name="thesis.txt")
    (workplace.folder / "mine").mkdir()
    (workplace.folder / "thesis.txt").rename(workplace.folder / "mine/thesis.txt")
    line = "job.yaml: mine holds other things (thesis.txt) and no run. Give another --output."
    job = workplace.job()
    assert workplace.refused("train", job, "--output", "mine") == line
    assert workplace.refused("train", job, "--output", "mine", "--overwrite") == line


def test_a_file_in_its_place(workplace):
    message = workplace.refused("train", workplace.job(), "--output", "data.csv/out", code=3)
    assert message.startswith("data.csv/out")
    assert message.endswith(": a file is where a folder is needed")


@pytest.mark.parametrize("arguments", [("--resume",), ("--output", "gone", "--resume"), ("--resume", "gone")])
def test_resume_without_a_run(workplace, arguments):
    where = "gone" if "gone" in arguments else "out/job"
    assert workplace.refused("train", workplace.job(), *arguments) == (
        f"job.yaml: {where} holds no run to go on with. Leave --resume out to begin one."
    )


def test_resume_of_a_run_that_is_done(trained):
    before = trained.files()
    assert trained.done("train", "job.yaml", "--resume", "out").out == (
        "out: job is done. To train it further, raise trainer.epochs; to start anew, use --overwrite.\n"
    )
    assert trained.files() == before


def test_more_epochs_do_not_continue_a_run_that_has_stopped_early(workplace):
    trainer = {"epochs": 9, "early_stop": 1, "learning_rate": 5.0}
    workplace.done("train", workplace.job(lambda job: job["config"]["trainer"].update(trainer)), "--output", "out")
    assert json.loads((workplace.folder / "out/metrics.json").read_text())["end"]["reason"] == "early stopping"
    longer = workplace.job(lambda job: job["config"]["trainer"].update({**trainer, "epochs": 20}))
    before = workplace.files()
    assert workplace.done("train", longer, "--resume", "out").out == (
        "out: job is done. To train it further, raise trainer.early_stop; to start anew, use --overwrite.\n"
    )
    assert workplace.files() == before


def test_resume_of_another_job(trained):
    def change(job):
        job["config"]["trainer"]["batch_size"] = 64

    message = trained.refused("train", trained.job(change), "--resume", "out")
    assert message == "job.yaml: config.trainer.batch_size: is 64, the run has 32"
    assert trained.refused("train", trained.job(), "--resume", "out", "--seed", "3") == (
        "job.yaml: seed: is 3, the run has 42"
    )


def test_resume_on_other_data(trained):
    lines = (trained.folder / "data.csv").read_text().splitlines()
    trained.data(*lines, "0.5,yes,a,no")
    message = trained.refused("train", trained.job(epochs(2)), "--resume", "out")
    assert message == "job.yaml: dataset: its content is not the data that the run was begun with"


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_a_model_that_is_none(workplace, command):
    job = workplace.job()
    (workplace.folder / "empty").mkdir()
    for place in ("gone", "empty"):
        assert workplace.refused(command, job, "--model", place) == (
            f"job.yaml: model: there is no model folder {place}. A model is what a run leaves in <output>/model."
        )
    line = "job.yaml: model: data.csv is a file. A model is what a run leaves in <output>/model."
    assert workplace.refused(command, job, "--model", "data.csv") == line
    assert workplace.refused(command, job, "--model", ".").startswith("job.yaml: model: . is no model: it holds no ")
    assert "out/job/model" in workplace.refused(command, job)


def test_a_model_that_is_damaged(trained):
    weights = trained.folder / "out/model/weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    message = trained.refused("predict", "job.yaml", "--model", "out", "--output", "p.csv")
    assert message.startswith("job.yaml: model: out/model/weights.safetensors is damaged: ")


def test_as_a_process(workplace):
    workplace.data("mine", name="thesis.txt")
    job, before = workplace.job(), workplace.files()
    ended = workplace.program("train", job, "--output", ".")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        "job.yaml: . holds other things (data.csv, job.yaml, thesis.txt) and no run. Give another --output.\n"
    )
    assert workplace.files() == before


def test_predictions_in_a_format_that_cannot_be_written(trained):
    assert trained.refused("predict", "job.yaml", "--model", "out", "--output", "pred.xlsx") == (
        "job.yaml: --output: predictions cannot be written as .xlsx: "
        "name a file with .parquet or .csv, or a folder (pred.xlsx/)"
    )


def test_a_task_of_one_process_says_what_of_the_backend_does_not_act(trained):
    outputs = trained.done("evaluate", "job.yaml", "--model", "out", "--output", "e", "--backend", "horovod").out
    assert (
        "job.yaml: task evaluate runs in this process alone: of backend horovod only the cache and its keys act"
        in outputs
    )
