"""`trainwright validate` prints the errors of `train`, in the file and in the head of the data, without torch."""

from __future__ import annotations

import pytest


def change(job):
    job["config"]["input_features"].append({"name": "nowhere", "type": "number"})
    job["config"].update(combiner="sequence_concatt")
    job["config"]["trainer"].update(epochs="3")


def test_all_that_is_wrong_is_reported_at_once_and_as_train_shows_it(workplace):
    job = workplace.job(change)
    refusal = workplace.refused("validate", job)
    assert [line.split("  ")[1] for line in refusal.splitlines()[1:]] == [
        "config.trainer.epochs",
        "config.combiner",
        "config.input_features[3].column",
    ]
    assert workplace.refused("train", job) == refusal


def test_a_data_set_that_is_not_there(workplace):
    refusal = workplace.refused("validate", workplace.job(), "--dataset", "dta.csv")
    assert refusal == "job.yaml: dataset: 'dta.csv' does not exist. Nearest: 'data.csv'."
    assert workplace.refused("train", workplace.job(), "--dataset", "dta.csv") == refusal


def test_a_column_that_is_not_there(workplace):
    job = workplace.job(lambda job: job["config"]["output_features"][0].update(column="latte"))
    refusal = workplace.refused("validate", job)
    assert refusal == "job.yaml: config.output_features[0].column: 'latte' is not in data.csv. Nearest: 'late'."
    assert workplace.refused("train", job) == refusal


def test_a_good_file_is_valid(workplace):
    assert workplace.done("validate", workplace.job()).out == "job.yaml: valid\n"


def test_of_a_store_it_says_that_nobody_has_looked(workplace):
    out = workplace.done("validate", workplace.job(), "--dataset", "s3://bucket/data.csv").out
    assert out.splitlines()[0].startswith("job.yaml: dataset lies in a store")


@pytest.mark.parametrize("arguments", [(), ("--dataset", "none.csv")])
def test_neither_torch_nor_ray_nor_boto3_is_loaded(workplace, arguments):
    command = ["trainwright", "validate", workplace.job(), *arguments]
    ended = workplace.python(
        "import sys\n"
        f"sys.argv = {command!r}\n"
        "from trainwright_trainer import cli\n"
        "try:\n"
        "    cli.main()\n"
        "except SystemExit:\n"
        "    pass\n"
        "print({'torch', 'ray', 'boto3', 'pandas'} & set(sys.modules))"
    )
    assert ended.out.splitlines()[-1] == "set()", ended.err
