"""What the contract allows and this version lacks: valid for `validate`, one line at the start of a run."""

from __future__ import annotations

import pytest


def backend(**section):
    return lambda job: job.update(backend=section)


def config(**sections):
    return lambda job: job["config"].update(sections)


LOCAL = "; on this machine: --backend local"
HERE = " (this version has local, ray)"
FILES = " (this version has files, folders and s3://)"


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (backend(type="deepspeed"), f"backend.type deepspeed{HERE}{LOCAL}"),
        (backend(type="horovod"), f"backend.type horovod{HERE}{LOCAL}"),
        (backend(type="ray", processor={"type": "dask"}), "backend.processor.type dask (this version has pandas)"),
        (backend(type="ray", processor={"type": "modin"}), "backend.processor.type modin (this version has pandas)"),
        (backend(type="ray", trainer={"strategy": "fsdp"}), "backend.trainer.strategy fsdp (this version has ddp)"),
        (
            backend(type="ray", trainer={"num_workers": {"min": 1, "max": 4}}),
            "backend.trainer.num_workers as a range (this version has a number)",
        ),
        (backend(loader={"fully_executed": False}), "backend.loader.fully_executed false"),
        (backend(loader={"window_size_bytes": 1000}), "backend.loader.window_size_bytes"),
        (backend(cache_dir="gs://bucket/cache"), f"backend.cache_dir gs://{FILES}"),
        (lambda job: job.update(dataset="hdfs://name/a.csv"), f"dataset hdfs://{FILES}"),
        (lambda job: job.update(output="abfs://key:secret@host/runs"), f"output abfs://{FILES}"),
        (
            lambda job: (job.pop("config"), job.update(entrypoint={"module": "mine", "function": "train"})),
            "entrypoint (this version has config)",
        ),
        (config(input_features=[{"name": "kind", "type": "text"}]), "config.input_features[0].type text"),
        (config(combiner={"type": "tabnet"}), "config.combiner.type tabnet (this version has concat)"),
        (config(trainer={"optimizer": {"type": "lbfgs"}}), "config.trainer.optimizer.type lbfgs"),
        (config(trainer={"learning_rate": "auto"}), "config.trainer.learning_rate auto"),
        (
            config(preprocessing={"split": {"type": "stratify", "column": "late"}}),
            "config.preprocessing.split.type ",
        ),
        (config(preprocessing={"oversample_minority": 0.5}), "config.preprocessing.oversample_minority"),
        (config(combiner={"type": "concat", "num_fc_layers": 1, "norm": "ghost"}), "config.combiner.norm ghost"),
    ],
)
def test_one_line(workplace, change, line):
    job = workplace.job(change)
    said = workplace.refused("train", job, "--output", "out")
    assert said.startswith(f"job.yaml: not built yet: {line}")
    assert "\n" not in said
    assert workplace.done("validate", job).out.endswith("job.yaml: valid\n")


def test_all_at_once(workplace):
    def change(job):
        backend(loader={"fully_executed": False}, cache_dir="gs://bucket")(job)
        config(combiner={"type": "tabnet"})(job)

    said = workplace.refused("train", workplace.job(change)).splitlines()
    assert said[0] == "job.yaml: 3 mistakes"
    assert all(line.strip().startswith("not built yet: ") for line in said[1:])


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("train", "--output", "gs://bucket/out"), "--output gs:// (this version has folders and s3://)"),
        (("train", "--dataset", "gs://bucket/a.csv"), f"dataset gs://{FILES}"),
        (("predict", "--model", "gs://bucket/model"), f"model gs://{FILES}"),
        (("train", "--backend", "horovod"), f"backend.type horovod{HERE}{LOCAL}"),
    ],
)
def test_places_and_backends_of_the_command_line(workplace, arguments, line):
    command, *rest = arguments
    assert workplace.refused(command, workplace.job(), *rest) == f"job.yaml: not built yet: {line}"


def test_workers_as_a_range_leave_the_global_batch_open(workplace):
    change = backend(type="ray", trainer={"num_workers": {"min": 1, "max": 4}})
    assert workplace.refused("train", workplace.job(change), "--backend", "local") == (
        "job.yaml: not built yet: backend.trainer.num_workers as a range "
        "(this version has a number, or a fixed effective_batch_size)"
    )


def test_workers_as_a_range_do_not_matter_to_a_fixed_batch(workplace):
    def change(job):
        backend(type="ray", trainer={"num_workers": {"min": 1, "max": 4}})(job)
        job["config"]["trainer"].update(effective_batch_size=64, batch_size=16)

    out = workplace.done("train", workplace.job(change), "--backend", "local", "--output", "out").out
    assert " · batch 64 · " in out
