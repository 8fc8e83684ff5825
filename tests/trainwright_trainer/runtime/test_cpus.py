from __future__ import annotations

import os
import subprocess
import sys

import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.runtime.cpus import asked_threads, usable_cpus

ALL = len(os.sched_getaffinity(0))


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with 64 CPUs and the given cgroup files, by path."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)))

    def made(**files):
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        return tmp_path

    return lambda files: made(**files)


def test_a_machine_without_cgroups(machine):
    assert usable_cpus(root=machine({})) == 64


@pytest.mark.parametrize(
    ("text", "cpus"),
    [("max 100000\n", 64), ("400000 100000\n", 4), ("250000 100000\n", 2), ("50000 100000\n", 1)],
)
def test_the_quota_of_version_2(machine, text, cpus):
    root = machine({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": text})
    assert usable_cpus(root=root) == cpus


@pytest.mark.parametrize(
    ("own", "above", "cpus"), [("max", "300000", 3), ("200000", "300000", 2), ("500000", "max", 5)]
)
def test_the_least_quota_on_the_way_up(machine, own, above, cpus):
    files = {"pods/one": own, "pods": above}
    root = machine(
        {
            "proc/self/cgroup": "0::/pods/one\n",
            **{f"sys/fs/cgroup/{folder}/cpu.max": f"{quota} 100000" for folder, quota in files.items()},
        }
    )
    assert usable_cpus(root=root) == cpus


@pytest.mark.parametrize("folder", ["docker/abc/", ""])
@pytest.mark.parametrize(("quota", "cpus"), [("-1", 64), ("600000", 6)])
def test_the_quota_of_version_1(machine, folder, quota, cpus):
    """In a container the path may be a path of the host. Then the container's cgroup is the mount."""
    root = machine(
        {
            "proc/self/cgroup": "5:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n0::/\n",
            f"sys/fs/cgroup/cpu/{folder}cpu.cfs_quota_us": f"{quota}\n",
            f"sys/fs/cgroup/cpu/{folder}cpu.cfs_period_us": "100000\n",
        }
    )
    assert usable_cpus(root=root) == cpus


def test_what_the_operator_has_reserved(machine):
    assert [usable_cpus(reserved, machine({})) for reserved in (3, 0.5, 100)] == [3, 1, 64]


def test_this_machine_and_its_affinity():
    one = min(os.sched_getaffinity(0))
    code = f"import os; os.sched_setaffinity(0, [{one}]); from trainwright_trainer.runtime.cpus import usable_cpus; "
    code += "print(usable_cpus())"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed == "1\n"
    assert 1 <= usable_cpus() <= ALL


@pytest.mark.parametrize(("text", "threads"), [(None, None), ("", None), ("4", 4), (" 8 ", 8), ("4,2", 4)])
def test_omp_num_threads(text, threads):
    assert asked_threads({} if text is None else {"OMP_NUM_THREADS": text}) == threads


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5", "²", "1025", "999999999999999"])
def test_omp_num_threads_that_is_none(text):
    with pytest.raises(Mistakes, match=f"OMP_NUM_THREADS: expected a whole number, from 1 to 1,024, found '{text}'"):
        asked_threads({"OMP_NUM_THREADS": text})


def test_what_a_process_sets_itself_is_not_what_it_was_started_with():
    code = (
        "import os; os.environ['OMP_NUM_THREADS'] = '7'; from trainwright_trainer.runtime.cpus import *; "
        "print(asked_threads(os.environ), asked_threads(first_environment()))"
    )
    environment = {**os.environ, "OMP_NUM_THREADS": "3"}
    printed = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert printed.stdout == "7 3\n"
