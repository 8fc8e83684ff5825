from __future__ import annotations

import os
import resource

import pytest

from trainwright_trainer.runtime.memory import usable_bytes

ALL = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@pytest.fixture
def machine(tmp_path):
    """The root of a machine with the given files."""

    def made(files):
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        return tmp_path

    return made


def test_a_machine_without_limits(machine):
    assert usable_bytes(machine({})) == ALL
    assert usable_bytes(machine({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"})) == ALL


@pytest.mark.parametrize(
    ("own", "above", "limit"), [("max", "3000", 3000), ("2000", "3000", 2000), ("4000", "max", 4000)]
)
def test_the_least_limit_of_version_2_on_the_way_up(machine, own, above, limit):
    files = {"proc/self/cgroup": "0::/pods/one\n"}
    files |= {"sys/fs/cgroup/pods/one/memory.max": own, "sys/fs/cgroup/pods/memory.max": above}
    assert usable_bytes(machine(files)) == limit


def test_a_soft_limit_counts_too(machine):
    files = {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "5000", "sys/fs/cgroup/memory.high": "4000"}
    assert usable_bytes(machine(files)) == 4000


@pytest.mark.parametrize(("text", "limit"), [("9223372036854771712", ALL), ("6000", 6000)])
def test_the_limit_of_version_1(machine, text, limit):
    files = {"proc/self/cgroup": "4:cpu,cpuacct:/a\n3:memory:/docker/abc\n"}
    assert usable_bytes(machine(files | {"sys/fs/cgroup/memory/memory.limit_in_bytes": text})) == limit


def test_the_limit_of_the_process(machine, monkeypatch):
    limits = {resource.RLIMIT_AS: (7000, -1), resource.RLIMIT_DATA: (-1, -1)}
    monkeypatch.setattr(resource, "getrlimit", limits.__getitem__)
    assert usable_bytes(machine({})) == 7000
