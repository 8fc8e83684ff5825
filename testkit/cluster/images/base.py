"""`debian:trixie-slim`, built from Debian's own packages, because there may be no registry. It trusts the certificate
authorities that this machine trusts, so that Dockerfiles can fetch packages.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from pathlib import Path

from testkit.cluster.images.buildah import Buildah
from testkit.cluster.images.command import run, step

NAME = "docker.io/library/debian:trixie-slim"
RECIPE = 1
"""Increased when the build changes. The image and all images based on it are then built again."""
SUITE = "trixie"
MIRROR = "http://deb.debian.org/debian"
OWN_AUTHORITIES = Path("usr/local/share/ca-certificates")
BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
# As Debian's own slim image: nobody reads manuals in a container.
NOT_IN_SLIM = (
    "usr/share/doc",
    "usr/share/man",
    "usr/share/locale",
    "usr/share/info",
    "var/cache/apt",
    "var/lib/apt/lists",
)


def digest() -> str:
    """The digest of the inputs of the image."""
    made = hashlib.sha256(f"{RECIPE} {SUITE} {MIRROR} {NOT_IN_SLIM}".encode())
    for file in _authorities():
        made.update(file.read_bytes())
    return made.hexdigest()[:16]


def make(buildah: Buildah) -> None:
    """Build the image, unless the store has an up-to-date one."""
    made = f"localhost/trainwright-base:{digest()}"
    if not buildah.has(made):
        folder = Path(tempfile.mkdtemp(prefix="trainwright-base-"))
        try:
            with step(f"bootstrap Debian {SUITE}"):
                _bootstrap(folder)
            with step(f"commit {NAME}"):
                _commit(buildah, folder, made)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    buildah("tag", made, NAME)


def _bootstrap(folder: Path) -> None:
    run(["debootstrap", "--variant=minbase", "--include=ca-certificates", SUITE, str(folder), MIRROR])
    for file in _authorities():
        shutil.copy(file, folder / OWN_AUTHORITIES / file.name)
    run(["chroot", str(folder), "update-ca-certificates"])
    for path in NOT_IN_SLIM:
        shutil.rmtree(folder / path, ignore_errors=True)


def _commit(buildah: Buildah, folder: Path, name: str) -> None:
    container = buildah("from", "scratch").strip()
    try:
        buildah("add", "--quiet", container, str(folder), "/")
        variables = [f"--env={variable}={BUNDLE}" for variable in ("SSL_CERT_FILE", "PIP_CERT")]
        buildah("config", "--cmd=bash", *variables, container)
        buildah("commit", "--quiet", container, name)
    finally:
        buildah("rm", container)


def _authorities() -> list[Path]:
    return sorted((Path("/") / OWN_AUTHORITIES).glob("*.crt"))
