"""The files of an image, and its programs, run as by a kubelet: with its user, a read-only root and an empty /tmp."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Mapping
from types import TracebackType

from testkit.cluster.images.buildah import Buildah
from testkit.cluster.images.layout import Layout

# The mounts are gone with the shell. The program is run by setpriv of the image, since chroot needs what setpriv drops.
SCRIPT = """
buildah="$1" container=$2; shift 2
root=$($buildah mount $container)
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t tmpfs -o mode=1777 tmp "$root/tmp"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
exec chroot "$root" "$@"
"""
WITHOUT_RIGHTS = ("--clear-groups", "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all")


class Unpacked:
    """`with Unpacked(...) as image: image.run("python", "--version")`."""

    def __init__(self, name: str, layout: Layout, buildah: Buildah) -> None:
        self._name, self._buildah, self.config = name, buildah, layout.config(name)

    def __enter__(self) -> Unpacked:
        self._container = self._buildah("from", "--pull-never", self._name).strip()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._buildah("rm", self._container)

    def run(self, *command: str, environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run the command, which is found in the image's PATH."""
        user, group = self.config["User"].split(":")
        lowered = ["setpriv", f"--reuid={user}", f"--regid={group}", *WITHOUT_RIGHTS]
        variables = [
            "env",
            "-i",
            *self.config["Env"],
            *(f"{name}={value}" for name, value in (environment or {}).items()),
        ]
        prepared = ["unshare", "--mount", "--", "sh", "-euc", SCRIPT, "sh", shlex.join(self._buildah.command)]
        return subprocess.run(
            [*prepared, self._container, *lowered, *variables, *command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
