"""A cluster with nodes is started and stopped, and leaves the machine as it was. It needs root, and no other running
cluster.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from testkit.cluster.images.ours import ROOT
from testkit.cluster.node import supervisor
from testkit.cluster.node.cluster_folder import BRIDGE, FIRST, ClusterFolder

LOOKS = {
    "network devices": ("ip", "-brief", "link"),
    "network namespaces": ("ip", "netns", "list"),
    "routes": ("ip", "route"),
    "iptables rules": ("iptables-save",),
    "mounts": ("cat", "/proc/self/mounts"),
}


def of_ours(text: str) -> list[str]:
    """Processes of others may start and end meanwhile; ours are recognised by name."""
    return sorted(line for line in text.splitlines() if "trainwright" in line.lower() or "KUBE" in line)


def seen(root: Path) -> Mapping[str, list[str]]:
    """Return the remains of a cluster whose folder is `root`."""
    found_now = {what: of_ours(subprocess.check_output(command, text=True)) for what, command in LOOKS.items()}
    groups = [str(path) for path in Path("/sys/fs/cgroup").glob("**/trainwright")]
    return {**found_now, "processes": processes(root), "control groups": groups}


def processes(root: Path) -> list[str]:
    commands = (path.read_bytes() for path in running())
    return [command.decode().replace("\0", " ") for command in commands if str(root).encode() in command]


def running() -> Iterator[Path]:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        if path.parent.name != str(os.getpid()) and path.exists():
            yield path


@pytest.fixture
def root() -> Iterator[Path]:
    """The folder of a separate cluster. Its name is short, because the paths of sockets are limited."""
    if os.geteuid() != 0:
        pytest.fail("a cluster with nodes needs root", pytrace=False)
    if supervisor.is_alive(ClusterFolder.default()):
        pytest.fail("a cluster runs on this machine: make cluster-down first", pytrace=False)
    folder = Path(tempfile.mkdtemp(prefix="cluster-"))
    yield folder
    command("down", folder)
    shutil.rmtree(folder)


def command(what: str, root: Path, *flags: str) -> None:
    words = [sys.executable, "-m", "testkit.cluster.node", what, f"--root={root}", *flags]
    subprocess.run(words, cwd=ROOT, check=True)


@pytest.mark.parametrize("end", ["in order", "its supervisor killed"])
def test_nothing_is_left(root: Path, end: str) -> None:
    before = seen(root)
    command("up", root, "--bare")
    while_up = seen(root)
    if end == "its supervisor killed":
        os.kill(int((ClusterFolder(root).running / "supervisor").read_text()), 9)
    command("down", root)
    assert seen(root) == before
    assert not ClusterFolder(root).running.exists()
    assert any(BRIDGE in line for line in while_up["network devices"])
    assert any(FIRST.namespace in line for line in while_up["network namespaces"])
    assert while_up["processes"]
    assert while_up["control groups"]
