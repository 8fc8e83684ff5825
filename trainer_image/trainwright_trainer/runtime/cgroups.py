"""The cgroups of this process: versions 1 and 2."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


def folders(controller: str, root: Path = Path("/")) -> Iterator[Path]:
    """The folders of this process's cgroups that have `controller`, each followed by those of its ancestors.

    In a container the path of a cgroup may be a host path that does not exist there; then the mount itself is the
    cgroup.
    """
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        mount = root / "sys/fs/cgroup"
        yield from _upwards(mount / controller if controllers else mount, path)


def _upwards(mount: Path, path: str) -> Iterator[Path]:
    folder = mount / path.strip("/")
    while True:
        yield folder
        if folder == mount or mount not in folder.parents:
            return
        folder = folder.parent
