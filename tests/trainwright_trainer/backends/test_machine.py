from __future__ import annotations

import pytest

from trainwright_api.problems import Mistakes
from trainwright_api.resource.backend import Backend
from trainwright_trainer.backends.machine import gpus_of_this_machine, processes_for
from trainwright_trainer.errors import EnvironmentFailure


def processes(backend="local", gpus=0, asked=None, **trainer):
    return processes_for(Backend.model_validate({"type": backend, "trainer": trainer}), gpus, asked)


def test_local_takes_all_gpus():
    assert processes() == 1
    assert processes(gpus=1) == 1
    assert processes(gpus=4) == 4
    assert processes(gpus=4, asked=2) == 2


@pytest.mark.parametrize("backend", ["deepspeed", "horovod"])
def test_the_file_decides_for_the_others(backend):
    assert processes(backend) == 1
    assert processes(backend, gpus=4) == 4
    assert processes(backend, gpus=4, use_gpu=False) == 1
    assert processes(backend, num_workers=3) == 3
    assert processes(backend, gpus=4, num_workers=2, use_gpu=True) == 2


@pytest.mark.parametrize(
    ("asked", "gpus", "line"),
    [(1, 0, "--gpus 1: this machine has no GPUs"), (3, 1, "--gpus 3: this machine has 1 GPU")],
)
def test_more_gpus_than_there_are(asked, gpus, line):
    with pytest.raises(EnvironmentFailure) as found:
        processes(gpus=gpus, asked=asked)
    assert str(found.value) == line


@pytest.mark.parametrize("trainer", [{"use_gpu": True}, {"resources_per_worker": {"GPU": 1}}])
def test_a_file_that_needs_more_gpus_than_there_are(trainer):
    with pytest.raises(EnvironmentFailure, match="asks for 2 GPUs, and this machine has 1"):
        processes("horovod", gpus=1, num_workers=2, **trainer)


@pytest.mark.parametrize(
    ("trainer", "line"),
    [
        (
            {"resources_per_worker": {"slot": 1}},
            "resources_per_worker.slot: acts with backend ray; a worker of horovod has CPU and GPU",
        ),
        (
            {"resources_per_worker": {"GPU": 0.5}},
            "resources_per_worker.GPU: is 0.5; a worker of horovod has one GPU, or 0",
        ),
    ],
)
def test_what_only_ray_can_do(trainer, line):
    with pytest.raises(Mistakes) as found:
        processes("horovod", gpus=1, **trainer)
    assert str(found.value) == f"backend.trainer.{line}"


def test_gpus_with_another_backend():
    with pytest.raises(Mistakes, match="--gpus: acts with backend local; backend horovod has"):
        processes("horovod", gpus=2, asked=1)


def test_a_machine_without_the_devices_of_a_gpu(tmp_path):
    (tmp_path / "nvidiactl").touch()
    assert gpus_of_this_machine(tmp_path) == 0
