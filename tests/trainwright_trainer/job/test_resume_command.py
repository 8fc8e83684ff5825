from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from trainwright_trainer.job.job import read_job
from trainwright_trainer.job.options import Options
from trainwright_trainer.job.resume_command import resume_command

LINE = "trainwright train job.yaml{} --output out/job --resume"


@pytest.fixture
def job(workplace):
    """The job of a file with these options."""

    def make(**options):
        return read_job("train", Path(workplace.job()), Options(**options))

    return make


def test_without_options_the_file_and_the_folder_suffice(job):
    assert resume_command(job()) == LINE.format("")
    named = replace(job(), path=Path("my job.yaml"))
    assert resume_command(named) == LINE.format("").replace("job.yaml", "'my job.yaml'")


def test_it_has_the_options_that_the_job_was_given(job):
    options = " --dataset b.csv --cache-dir kept --seed 3 --threads 2 --lenient"
    given = job(dataset="b.csv", cache_dir="kept", seed=3, threads=2, lenient=True, overwrite=True)
    assert resume_command(given) == LINE.format(options)


def test_a_url_has_no_query_which_may_contain_a_key(job):
    command = resume_command(job(dataset="https://example.com/data.csv?key=secret"))
    assert command == LINE.format(" --dataset https://example.com/data.csv")


def test_a_launcher_stands_before_it(job):
    assert resume_command(replace(job(), launcher="torchrun")) == "torchrun … " + LINE.format("")
