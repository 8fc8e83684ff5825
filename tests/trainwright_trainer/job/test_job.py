"""The job that results from the file and the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.job.job import read_job
from trainwright_trainer.job.options import Options
from trainwright_trainer.job.pod import Pod


@pytest.fixture
def read(workplace):
    """Read the job of a task, with command-line options and a change of the file."""

    def make(task="train", change=None, **options):
        return read_job(task, Path(workplace.job(change)), Options(**options))

    return make


def spec(**fields):
    """A change that turns the job into a complete resource."""

    def change(job):
        plain = dict(job)
        job.clear()
        job.update(apiVersion="trainwright.dev/v1alpha1", kind="TrainingJob", metadata={"name": "late"})
        job["spec"] = plain | fields

    return change


def test_the_defaults(read):
    job = read()
    assert (job.name, job.task, job.dataset, str(job.output), job.model) == (
        "job",
        "train",
        "data.csv",
        "out/job",
        None,
    )
    assert (job.spec.seed, job.workers, job.cache_dir, job.notices) == (42, 1, None, ())
    assert job.config.input_features[0].column == "size"


def test_a_resource_names_its_run(read):
    assert (read(change=spec()).name, str(read(change=spec()).output)) == ("late", "out/late")
    assert str(read(change=spec(output="runs")).output) == "runs/late"


def test_the_command_line_stands_over_the_file(read):
    job = read(change=spec(output="runs", seed=5), dataset="b.csv", output="here", seed=7)
    assert (job.dataset, str(job.output), job.spec.seed, job.plain()["spec"]["seed"]) == ("b.csv", "here", 7, 7)


def test_the_cache_of_the_command_line_stands_over_that_of_the_file(read):
    job = read(change=spec(backend={"cache_dir": "s3://bucket/cache"}), cache_dir="kept")
    assert (job.cache_dir, job.spec.backend.cache_dir, job.notices) == ("kept", "kept", ())
    assert read(change=spec(), cache_dir="kept").cache_dir == "kept"


def test_the_cache_of_a_table_gives_way_to_every_other(read):
    assert read(folder_of_table=".").cache_dir == ".trainwright_cache"
    assert read(change=spec(backend={"cache_dir": "kept"}), folder_of_table=".").cache_dir == "kept"
    assert read(folder_of_table=".", cache_dir="given").cache_dir == "given"


def test_the_task_of_the_file(read):
    assert read(None, spec(task="preprocess")).task == "preprocess"
    assert read("train", spec(task="preprocess")).task == "train"
    assert read(None).task == "train"


@pytest.mark.parametrize("task", ["evaluate", "predict"])
def test_the_model_that_this_file_trains(read, task):
    job = read(task)
    assert (str(job.model), job.config) == ("out/job/model", None)
    assert str(read(task, spec(output="runs")).model) == "runs/late/model"
    assert str(read(task, model="mine").model) == "mine"


def test_a_file_that_names_its_model(workplace):
    workplace.data(json.dumps({"dataset": "data.csv", "task": "predict", "model": "mine"}), name="p.yaml")
    job = read_job(None, Path("p.yaml"), Options())
    assert (job.task, str(job.model), str(job.output)) == ("predict", "mine", "out/p")


@pytest.mark.parametrize(
    ("processor", "pod", "on_ray"),
    [
        ("dask", None, True),
        ("pandas", None, False),
        ("dask", Pod(1, "preprocess", ray_version="2.60.0"), True),
        ("dask", Pod(1, "preprocess"), False),  # the pod of task preprocess is not one of a cluster
    ],
)
def test_preprocess_is_distributed_where_processor_and_place_allow_it(workplace, processor, pod, on_ray):
    path = workplace.job(lambda job: job.update(backend={"type": "ray", "processor": {"type": processor}}))
    job = read_job("preprocess", Path(path), Options(), pod=pod)
    assert job.prepares_on_ray == on_ray
    assert bool(job.notices) != on_ray


def test_text_stands_for_a_file(workplace):
    text = (workplace.folder / workplace.job()).read_text()
    job = read_job("train", Path("mine.json"), Options(), text)
    assert (job.name, job.text) == ("mine", text)


def test_workers_are_those_of_the_file(read):
    ray = {"type": "ray", "trainer": {"num_workers": 4}}
    job = read(change=lambda job: job.update(backend=ray), backend="local")
    assert (job.workers, job.spec.backend.type) == (4, "local")
    assert len(job.notices) == 1


def test_a_missing_backend_keeps_its_batch_in_a_pod_and_its_strategy_with_a_launcher(workplace):
    backend = {"trainer": {"num_workers": 4, "strategy": "fsdp"}}
    path = Path(workplace.job(lambda job: job.update(backend=backend)))
    in_pod = read_job(None, path, Options(), pod=Pod(1, "train"))
    assert (in_pod.workers, in_pod.spec.backend.type, in_pod.strategy_section) == (4, "local", None)
    launched = read_job(None, path, Options(), world=2)
    assert (launched.workers, launched.spec.backend.trainer.strategy, launched.notices) == (4, "fsdp", ())


def test_what_is_written_again_holds_no_secret(read):
    job = read()
    assert job.written() == job.text


def test_an_old_config_is_written_as_the_upgraded_job(read):
    def old(job):
        job["config"]["training"] = {**job["config"].pop("trainer"), "decay": True}

    def new(job):
        job["config"]["trainer"]["learning_rate_scheduler"] = {"decay": "exponential"}

    job, same = read(change=old), read(change=new)
    assert job.plain() == same.plain()
    assert json.loads(job.written())["spec"]["config"] == json.loads(same.text)["config"]
    assert job.notices[0] == "config.training is read as config.trainer"


def test_lenient_trains_without_unknown_keys(read):
    def wrong(job):
        job["config"]["nonsense"] = 1

    job = read(change=wrong, lenient=True)
    assert job.plain() == read().plain()
    assert "nonsense" not in job.written()
    assert [notice.partition(" ")[0] for notice in job.notices] == ["config.nonsense"]
    with pytest.raises(Mistakes, match=r"config\.nonsense: unknown"):
        read(change=wrong)


def test_the_same_words_mean_the_same_run(read):
    explicit = read(change=lambda job: job["config"]["input_features"][0].update(column="size"))
    assert read().plain()["spec"]["config"] == explicit.plain()["spec"]["config"]


def test_all_that_is_wrong_is_raised(read):
    with pytest.raises(Mistakes, match=r"config\.trainer\.epochs: expected at least 1"):
        read(change=lambda job: job["config"]["trainer"].update(epochs=0))
