"""Options of the contract that this version does not contain give one line, in `validate` and at the start of a run."""

from __future__ import annotations

import pytest


def backend(**section):
    return lambda job: job.update(backend=section)


def config(**sections):
    return lambda job: job["config"].update(sections)


FILES = " (this version has files, folders, s3:// and gs://)"


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (
            backend(type="ray", trainer={"logdir": "logs"}),
            "backend.trainer.logdir: not built yet (this version keeps logs in the run folder)",
        ),
        (backend(cache_dir="hdfs://bucket/cache"), f"backend.cache_dir: not built yet: hdfs://{FILES}"),
        (lambda job: job.update(dataset="hdfs://name/a.csv"), f"dataset: not built yet: hdfs://{FILES}"),
        (lambda job: job.update(output="abfs://key:secret@host/runs"), f"output: not built yet: abfs://{FILES}"),
        (
            config(input_features=[{"name": "kind", "type": "audio"}]),
            "config.input_features[0].type: not built yet: audio",
        ),
        (config(trainer={"optimizer": {"type": "lbfgs"}}), "config.trainer.optimizer.type: not built yet: lbfgs"),
        (config(trainer={"learning_rate": "auto"}), "config.trainer.learning_rate: not built yet: auto"),
        (
            config(preprocessing={"global_max_sequence_length": 9}),
            "config.preprocessing.global_max_sequence_length: not built yet",
        ),
    ],
)
def test_one_line(workplace, change, line):
    job = workplace.job(change)
    message = workplace.refused("train", job, "--output", "out")
    assert message.startswith(f"job.yaml: {line}")
    assert "\n" not in message
    assert workplace.refused("validate", job) == message


def test_all_at_once(workplace):
    def change(job):
        backend(type="ray", trainer={"logdir": "logs"}, cache_dir="hdfs://bucket")(job)
        config(preprocessing={"global_max_sequence_length": 9})(job)

    message = workplace.refused("train", workplace.job(change)).splitlines()
    assert message[0] == "job.yaml: 3 mistakes"
    assert all("  not built yet" in line for line in message[1:])


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ("train", "--output", "hdfs://bucket/out"),
            "--output: not built yet: hdfs:// (this version has folders, s3:// and gs://)",
        ),
        (("train", "--dataset", "hdfs://bucket/a.csv"), f"dataset: not built yet: hdfs://{FILES}"),
        (("predict", "--model", "hdfs://bucket/model"), f"model: not built yet: hdfs://{FILES}"),
    ],
)
def test_places_and_backends_of_the_command_line(workplace, arguments, line):
    command, *rest = arguments
    assert workplace.refused(command, workplace.job(), *rest) == f"job.yaml: {line}"


def test_workers_as_a_range_need_a_global_batch_in_rows(workplace):
    job = workplace.job(backend(type="ray", trainer={"num_workers": {"min": 1, "max": 4}}))
    line = (
        "job.yaml: config.trainer.effective_batch_size: auto follows the number of workers, and "
        "backend.trainer.num_workers is a range: give the rows of a global batch as a number"
    )
    for arguments in (("train",), ("train", "--backend", "local"), ("validate",)):
        command, *rest = arguments
        assert workplace.refused(command, job, *rest) == line


def test_a_file_with_its_own_image_is_valid_and_nothing_for_this_machine(workplace):
    """The trainer of that image may have it; the one that is installed here has not."""

    def change(job):
        config(preprocessing={"global_max_sequence_length": 9})(job)
        job.update(image="mine:2")

    line = "config.preprocessing.global_max_sequence_length: not built yet: 9"
    job = workplace.job(change)
    message = workplace.done("validate", job).out.splitlines()
    assert message == [f"job.yaml: {line}; image mine:2 must have it", "job.yaml: valid"]
    assert workplace.refused("train", job) == f"job.yaml: {line}"


def test_workers_as_a_range_do_not_matter_to_a_fixed_batch(workplace):
    def change(job):
        backend(type="ray", trainer={"num_workers": {"min": 1, "max": 4}})(job)
        job["config"]["trainer"].update(effective_batch_size=64, batch_size=16)

    out = workplace.done("train", workplace.job(change), "--backend", "local", "--output", "out").out
    assert " · batch 64 · " in out
