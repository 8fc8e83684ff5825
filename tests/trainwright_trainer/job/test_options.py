"""The path of the predictions for each form of `--output`."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.job.options import prediction_file, refuse_unwritable
from trainwright_trainer.storage.location import S3Uri


@pytest.mark.parametrize(
    "output", ["p.xlsx", f"{300 * 'p'}.xlsx", "p.json", "p.csv.gz", "deep/p.PARQ", "s3://bucket/p.xlsx"]
)
def test_other_formats_are_refused(output):
    with pytest.raises(Mistakes, match=r"cannot be written as \.\w+: name a file with \.parquet or \.csv, or a folder"):
        refuse_unwritable(output)


@pytest.mark.parametrize(
    "output", ["p.csv", "p.CSV", "p.parquet", "out", "run.1", "2024.01.02", "model.v2/", ".hidden"]
)
def test_files_of_a_known_format_and_folders_pass(output):
    refuse_unwritable(output)


def test_a_folder_that_is_there_passes_whatever_its_name(tmp_path):
    (tmp_path / "model.xlsx").mkdir()
    refuse_unwritable(str(tmp_path / "model.xlsx"))


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("p.csv", "p.csv"),
        ("p.PARQUET", "p.PARQUET"),
        ("p.csv/", "p.csv/predictions.parquet"),
        ("out", "out/predictions.parquet"),
    ],
)
def test_a_known_ending_is_a_file(output, expected):
    assert prediction_file(output, Path(output)) == Path(expected)


def test_a_run_folder_is_a_folder_whatever_its_name():
    assert prediction_file(None, Path("out/flights.csv")) == Path("out/flights.csv/predictions.parquet")
    assert prediction_file("s3://b/p.csv", S3Uri("b", "p.csv")) == S3Uri("b", "p.csv")
