from __future__ import annotations

import pytest

from trainwright_api.problems import Mistakes
from trainwright_api.resource.backend import BackendTrainer
from trainwright_trainer.backends.ray.resources import (
    check_memory,
    check_this_machine,
    check_whole_gpus,
    missing_line,
    needs_of,
    pool_of,
)
from trainwright_trainer.errors import EnvironmentFailure


def needs(workers=None, gpus=0.0, cpus=0.0, **section):
    return needs_of(BackendTrainer.model_validate(section), workers, gpus, cpus)


@pytest.mark.parametrize(
    ("found", "workers", "resources"),
    [
        pytest.param(needs(), 1, {"CPU": 1}, id="no GPU there: one worker"),
        pytest.param(needs(gpus=4), 4, {"CPU": 1, "GPU": 1}, id="one for each GPU"),
        pytest.param(needs(gpus=4, use_gpu=False), 1, {"CPU": 1}, id="GPUs that are not wanted"),
        pytest.param(needs(gpus=4, num_workers={"min": 1, "max": 3}), 3, {"CPU": 1, "GPU": 1}, id="at most max"),
        pytest.param(needs(num_workers={"min": 2, "max": 3}), 2, {"CPU": 1}, id="at least min"),
        pytest.param(needs(cpus=9, num_workers={"min": 2, "max": 12}), 9, {"CPU": 1}, id="no GPU there: by the CPUs"),
        pytest.param(needs(cpus=9), 1, {"CPU": 1}, id="no range: CPUs do not count"),
        pytest.param(needs(3, gpus=4, resources_per_worker={"CPU": 2}), 3, {"CPU": 2, "GPU": 1}, id="as given"),
        pytest.param(needs(gpus=4, resources_per_worker={"GPU": 2}), 2, {"CPU": 1, "GPU": 2}, id="two GPUs each"),
        pytest.param(needs(2, gpus=4, resources_per_worker={"GPU": 0}), 2, {"CPU": 1}, id="no GPU each"),
        pytest.param(needs(2, resources_per_worker={"CPU": 0, "slot": 1}), 2, {"slot": 1}, id="a resource of its own"),
    ],
)
def test_what_workers_need(found, workers, resources):
    assert (found.workers, dict(found.resources)) == (workers, resources)
    assert found.use_gpu == ("GPU" in resources)


@pytest.mark.parametrize(
    ("found", "least"),
    [
        (needs(cpus=9, num_workers={"min": 2, "max": 4}), 2),
        (needs(3, num_workers={"min": 2, "max": 4}), None),
        (needs(num_workers=None), None),
    ],
    ids=["a range", "resolved by the operator", "no range"],
)
def test_fewer_workers_are_enough_where_this_run_chooses_from_a_range(found, least):
    assert found.least == least


@pytest.mark.parametrize(
    ("nodes", "fitting"),
    [
        ([], 0),
        ([{"CPU": 4.0, "slot": 0.2}, {"CPU": 1.0, "slot": 9.0}, {"GPU": 1.0}], 3),
        ([{"CPU": 4.0, "slot": 0.3}, {"CPU": 1.0, "slot": 0.1}], None),
    ],
)
def test_workers_that_find_no_node_are_counted(nodes, fitting):
    line = missing_line(needs(4, resources_per_worker={"CPU": 1, "slot": 0.1}), nodes)
    assert (line is None) if fitting is None else f"nodes for {fitting} of 4 workers (1 CPU, 0.1 slot each)" in line


def test_the_cores_of_all_workers():
    assert needs(3, resources_per_worker={"CPU": 1.5}).cpus == 5


def test_a_machine_without_the_gpus_that_are_asked_for():
    check_this_machine(needs(2), 0)
    with pytest.raises(EnvironmentFailure, match=r"asks for GPUs \(2\), and this machine has 0.*--backend local"):
        check_this_machine(needs(2, use_gpu=True), 0)


def test_a_machine_without_the_memory_that_is_asked_for():
    check_memory(needs(2), 0)
    check_memory(needs(2, resources_per_worker={"memory": 4e9}), 8e9)
    with pytest.raises(EnvironmentFailure, match=r"asks for 8 GB of memory, and Ray has 7\.5 GB of this machine"):
        check_memory(needs(2, resources_per_worker={"memory": 4e9}), 7.5e9)


def pool(*nodes, workers=None, **section):
    return pool_of(BackendTrainer.model_validate(section), workers, nodes)


TWO, GPUS = {"CPU": 2.0}, {"CPU": 8.0, "GPU": 2.0, "memory": 8e9}


@pytest.mark.parametrize(
    ("found", "sizes"),
    [
        pytest.param(pool(TWO, TWO), (4, 4), id="one for each CPU"),
        pytest.param(pool(TWO, GPUS), (2, 2), id="one for each GPU"),
        pytest.param(pool(GPUS, use_gpu=False), (8, 8), id="GPUs that are not wanted"),
        pytest.param(pool(TWO, num_workers=1), (1, 1), id="as many as the file says"),
        pytest.param(pool(TWO, num_workers=9), (2, 9), id="more when there is room"),
        pytest.param(pool(TWO, num_workers={"min": 1, "max": 5}), (2, 5), id="a range"),
        pytest.param(pool(TWO, workers=2, num_workers={"min": 1, "max": 5}), (2, 2), id="resolved by the operator"),
        pytest.param(pool(TWO, resources_per_worker={"CPU": 3}), (1, 1), id="no room: one waits"),
        pytest.param(pool(), (1, 1), id="no node: one waits"),
    ],
)
def test_the_size_of_a_pool(found, sizes):
    assert (found.least, found.most) == sizes


@pytest.mark.parametrize(
    ("section", "reader", "actor"),
    [
        ({}, 0.5, {"num_cpus": 0.5, "num_gpus": 0}),
        ({"resources_per_worker": {"CPU": 2}}, 1, {"num_cpus": 1, "num_gpus": 0}),
        ({"resources_per_worker": {"CPU": 4, "slot": 1}}, 1, {"num_cpus": 3, "resources": {"slot": 1}}),
        ({"resources_per_worker": {"CPU": 4, "memory": 1e9}}, 1, {"num_cpus": 3, "memory": 1e9, "resources": {}}),
        ({"resources_per_worker": {"CPU": 4, "GPU": 0.5}}, 1, {"num_cpus": 1, "num_gpus": 0.5}),
        ({"resources_per_worker": {"CPU": 0, "GPU": 1}}, 0.5, {"num_cpus": 0.5, "num_gpus": 1}),
    ],
)
def test_an_actor_shares_the_cpus_of_a_worker_with_a_reader(section, reader, actor):
    found = pool(GPUS, **{"use_gpu": "GPU" in section.get("resources_per_worker", {}), **section})
    assert found.reader_cpus == reader
    assert actor.items() <= dict(found.actor_options).items()


def test_workers_that_train_together_share_no_gpu():
    line = "resources_per_worker.GPU: is 0.5; each of 2 workers needs a GPU of its own: NCCL refuses to share one"
    with pytest.raises(Mistakes, match=line):
        check_whole_gpus(needs(2, gpus=1, resources_per_worker={"GPU": 0.5}))
    for workers, gpus in ((1, 0.5), (2, 1), (2, 0), (2, 2)):
        check_whole_gpus(needs(workers, gpus=4, resources_per_worker={"GPU": gpus}))
