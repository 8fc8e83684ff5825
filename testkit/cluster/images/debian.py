"""Debian packages that this machine lacks: those that build images, and those of a node."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from testkit.cluster.errors import ClusterError
from testkit.cluster.images.command import run, step

PACKAGES = ("buildah", "debootstrap", "skopeo")
"""Packages that building images requires. Each is also the name of its program."""
# Somebody else may be installing something.
_WAIT = ("-o", "DPkg::Lock::Timeout=300")


def install() -> None:
    """Install the missing packages."""
    if os.geteuid() != 0:
        raise ClusterError("the tests build images as root; elsewhere `make images` builds them with docker or buildah")
    install_all(package for package in PACKAGES if shutil.which(package) is None)


def install_all(packages: Iterable[str]) -> None:
    missing = list(packages)
    if not missing:
        return
    if not shutil.which("apt-get"):
        raise ClusterError(f"these programs are missing, and there is no apt-get to install them: {', '.join(missing)}")
    with step(f"installing {', '.join(missing)}"):
        quiet = {"DEBIAN_FRONTEND": "noninteractive"}
        run(["apt-get", "update", "-qq"])
        run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *_WAIT, *missing], quiet)


CNI = Path("/usr/lib/cni")
# A package, and the program that shows that it is there: from Debian, or from anywhere else.
NODE_PACKAGES = {
    "containerd": "containerd",
    "runc": "runc",
    "containernetworking-plugins": str(CNI / "bridge"),
    "buildah": "buildah",
    "iptables": "iptables",
    "conntrack": "conntrack",
    "socat": "socat",
    "debootstrap": "debootstrap",
    "iproute2": "ip",
    "openssl": "openssl",
}
# Administrators' programs lie here, and a user's PATH may not name it.
FOLDERS = "/usr/local/sbin:/usr/sbin:/sbin"


def install_for_node() -> None:
    install_all(package for package, program in NODE_PACKAGES.items() if not is_there(program))


def is_there(program: str) -> bool:
    return shutil.which(program, path=f"{os.environ['PATH']}:{FOLDERS}") is not None
