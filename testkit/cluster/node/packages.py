"""The Debian packages that a node needs. Only those that are missing are installed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from testkit.cluster.images import debian

CNI = Path("/usr/lib/cni")
# A package, and the program that shows that it is there: from Debian, or from anywhere else.
PACKAGES = {
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


def install() -> None:
    debian.install_all(package for package, program in PACKAGES.items() if not is_there(program))


def is_there(program: str) -> bool:
    return shutil.which(program, path=f"{os.environ['PATH']}:{FOLDERS}") is not None
