from __future__ import annotations

import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.backends.launchers import OWN, forget_launch, is_inside_ray, is_rank_zero, launch_of

TORCHRUN = {
    "RANK": "3",
    "WORLD_SIZE": "4",
    "LOCAL_RANK": "1",
    "LOCAL_WORLD_SIZE": "2",
    "MASTER_ADDR": "node-0",
    "MASTER_PORT": "29400",
    "TORCHELASTIC_RUN_ID": "a1",
    "TORCHELASTIC_USE_AGENT_STORE": "True",
    "TORCHELASTIC_RESTART_COUNT": "2",
}
HOROVODRUN = {
    "HOROVOD_RANK": "1",
    "HOROVOD_SIZE": "2",
    "HOROVOD_LOCAL_RANK": "0",
    "HOROVOD_LOCAL_SIZE": "1",
    "HOROVOD_GLOO_RENDEZVOUS_ADDR": "10.0.0.1",
    "HOROVOD_GLOO_RENDEZVOUS_PORT": "4000",
}
MPIRUN = {
    "OMPI_COMM_WORLD_RANK": "1",
    "OMPI_COMM_WORLD_SIZE": "2",
    "OMPI_COMM_WORLD_LOCAL_RANK": "1",
    "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
}


def test_a_process_of_no_launcher():
    assert launch_of({"PATH": "/bin", "RANK": "1"}) is None
    assert is_rank_zero({"RANK": "1"})


@pytest.mark.parametrize("given", [TORCHRUN, HOROVODRUN, MPIRUN], ids=["torchrun", "horovodrun", "mpirun"])
def test_a_process_that_has_only_inherited_the_variables(given):
    environment = {"PATH": "/bin", **given}
    forget_launch(environment)
    assert launch_of(environment) is None
    assert environment["PATH"] == "/bin"


def test_torchrun():
    launch = launch_of(TORCHRUN)
    assert launch is not None
    assert (launch.launcher, launch.rank, launch.world, launch.local_rank, launch.local_world) == (
        "torchrun",
        3,
        4,
        1,
        2,
    )
    assert (launch.address, launch.port, launch.name) == ("node-0", 29400, "a1")
    assert launch.launcher_serves
    assert launch.restart == 2
    assert not launch.is_on_one_machine
    assert not is_rank_zero(TORCHRUN)


def test_horovodrun():
    launch = launch_of(HOROVODRUN)
    assert launch is not None
    assert (launch.launcher, launch.rank, launch.world, launch.address, launch.port) == (
        "horovodrun",
        1,
        2,
        "10.0.0.1",
        4000,
    )
    assert not launch.launcher_serves
    assert is_rank_zero(HOROVODRUN | {"HOROVOD_RANK": "0"})


def test_mpirun_on_one_machine_needs_no_address():
    launch = launch_of(MPIRUN)
    assert launch is not None
    assert (launch.launcher, launch.address, launch.port) == ("mpirun", "127.0.0.1", 29500)
    assert launch.is_on_one_machine


def test_mpirun_on_several_machines_needs_one():
    with pytest.raises(Mistakes, match=r"MASTER_ADDR: missing: the processes of mpirun run on several machines"):
        launch_of(MPIRUN | {"OMPI_COMM_WORLD_LOCAL_SIZE": "1"})


@pytest.mark.parametrize("text", ["", "-1", "two", "²"])
def test_a_rank_that_is_no_number(text):
    with pytest.raises(Mistakes, match="RANK: expected a whole number"):
        launch_of(TORCHRUN | {"RANK": text})


def test_workers_of_our_own():
    launch = launch_of(TORCHRUN | {OWN: "1"})
    assert launch is not None
    assert launch.is_own


def test_the_parent_is_the_same_until_another_process_starts_this_one():
    launch = launch_of(TORCHRUN)
    assert launch is not None
    assert launch.parent == launch.parent
    assert launch.parent.count(":") == 2


def test_inside_ray():
    assert not is_inside_ray({"RAY_ADDRESS": "10.0.0.1:6379"})
    assert is_inside_ray({"RAY_JOB_CONFIG_JSON_ENV_VAR": "{}"})
