"""`validate`, the webhook and `train` accept the same configs, and refuse the others with the same messages.

The webhook also refuses backends whose pods are not built.
The corpus has every word of the contract, built or not. Accepted configs are trained.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import chdir
from copy import deepcopy
from pathlib import Path

import pytest
from testkit.contract.corpus import corpus

from trainwright_api.checks import support
from trainwright_api.checks.cluster import validate_job
from trainwright_api.problems import Mistakes
from trainwright_trainer import train
from trainwright_trainer.encoders.pretrained import FAMILIES
from trainwright_trainer.tasks.validate import validated

from . import option_data
from .option_paths import Job
from .option_runs import in_memory

CORPUS = dict(corpus())
ALL = pytest.mark.parametrize("name", CORPUS)


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The working folder with the data of all configs."""
    home = tmp_path_factory.mktemp("corpus")
    option_data.write(home / "rows.parquet", 0)
    with chdir(home):
        yield home


def lines_of_validate(job: Job, folder: Path) -> str:
    path = folder / "job.json"
    path.write_text(json.dumps(job))
    try:
        validated(path)
    except Mistakes as mistakes:
        return mistakes.render(path.name)
    return ""


def lines_of_train(job: Job, folder: Path) -> str:
    """The message of `train` for a job that has to be refused."""
    with pytest.raises(Mistakes) as caught:
        train(job, output=folder / "never", quiet=True)
    assert not (folder / "never").exists()
    return caught.value.render("job.json")


def lines_of_the_webhook(job: Job) -> str:
    """The message of the webhook for the same job with its data in S3."""
    spec = {**deepcopy(job), "dataset": "s3://bucket/rows.parquet", "output": "s3://bucket/runs"}
    head = {"apiVersion": "trainwright.dev/v1alpha1", "kind": "TrainingJob", "metadata": {"name": "job.json"}}
    return validate_job({**head, "spec": spec}, "job.json").message


@ALL
def test_they_agree(name: str, folder: Path) -> None:
    job = CORPUS[name]
    expected = lines_of_validate(job, folder)
    assert lines_of_the_webhook(job) == expected
    if expected:
        assert lines_of_train(job, folder) == expected
    elif name.rpartition(" ")[2] in FAMILIES:  # test_pretrained_text.py trains them, with models that it makes
        assert "there is no model" in lines_of_train(job, folder)
    elif not name.startswith("input image, encoder") or name.endswith(
        "stacked_cnn"
    ):  # test_images.py builds the others
        in_memory(job)


@ALL
def test_they_agree_where_there_is_a_mistake_too(name: str, folder: Path) -> None:
    """Unsupported options do not hide mistakes, and mistakes do not hide unsupported options."""
    job = deepcopy(CORPUS[name])
    alone = lines_of_validate(job, folder)
    job["config"]["trainer"]["epochs"] = "3"
    expected = lines_of_validate(job, folder)
    assert "config.trainer.epochs" in expected
    assert all(line.split("  ")[-1].strip() in expected for line in alone.splitlines()[1:])
    assert lines_of_train(job, folder) == expected
    assert lines_of_the_webhook(job) == expected


@pytest.fixture(scope="module")
def accepted(folder: Path) -> set[str]:
    """The words in the names of all accepted configs."""
    names = [name for name, job in CORPUS.items() if not lines_of_validate(job, folder)]
    assert len(names) < len(CORPUS) * 2 / 3
    return {word for name in names for word in name.replace(",", "").split()}


@pytest.mark.parametrize(
    "built", [support.INPUTS, support.OUTPUTS, support.DECODERS, support.LOSSES, support.OPTIMIZERS, support.SPLITS]
)
def test_each_word_that_is_built_is_accepted_somewhere_in_the_corpus(
    built: tuple[str, ...], accepted: set[str]
) -> None:
    """`test_they_agree` trains only accepted configs, so each built word has to be in one."""
    assert set(built) <= accepted
