"""A node's own branch of the machine's control groups, of version 1 or 2."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from testkit.cluster.node.cluster_folder import Site

WEIGHTS = {"cpu.shares": "16384", "cpu.weight": "1600"}
"""Sixteen times the default of version 1 and of version 2. With the default, the whole branch competes like a single
process, and on a busy machine Kubernetes loses its leases."""


def make(site: Site) -> None:
    for root in _roots():
        (root / site.cgroup).mkdir(parents=True, exist_ok=True)
        for name, weight in WEIGHTS.items():
            file = (root / site.cgroup).parent / name
            if file.exists():
                file.write_text(weight)


def remove(site: Site) -> None:
    """Remove the groups, the innermost first, once no process lives in them."""
    for root in _roots():
        for folder, _, _ in os.walk(root / site.cgroup, topdown=False):
            os.rmdir(folder)
        _remove_if_empty((root / site.cgroup).parent)


def processes(site: Site) -> set[int]:
    """Return all processes of the node, including those of its pods."""
    return {
        int(pid)
        for root in _roots()
        for folder in (root / site.cgroup).rglob("cgroup.procs")
        for pid in folder.read_text().split()
    }


def _remove_if_empty(folder: Path) -> None:
    if folder.is_dir() and not any(path.is_dir() for path in folder.iterdir()):
        folder.rmdir()


def _roots() -> Iterator[Path]:
    """Return the mount points of the cgroup hierarchies: version 1, and version 2, which may exist beside it."""
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, folder, kind, *_ = line.split()
        if kind in ("cgroup", "cgroup2"):
            yield Path(folder)
