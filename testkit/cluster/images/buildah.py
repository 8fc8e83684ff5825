"""buildah, and the folders of the images and of their build files. All of these folders may be deleted."""

from __future__ import annotations

from pathlib import Path

from testkit.cluster.errors import ClusterError
from testkit.cluster.images.command import run
from testkit.cluster.images.layout import Layout
from testkit.cluster.program import cache_folder

# A container of its own would need more than some machines give.
ENVIRONMENT = {"BUILDAH_ISOLATION": "chroot"}
# Where many files are allowed, closing all that might be open takes longer than the step itself. And the mounts that
# the store makes, one of them for ever, are gone with the program that made them.
APART = ("prlimit", "--nofile=1024", "--", "unshare", "--mount", "--")
DRIVER = "overlay"


class Buildah:
    def __init__(self, folder: Path) -> None:
        self._root, self._run = folder / "store", folder / "run"
        store = ("--root", str(self._root), "--runroot", str(self._run), "--storage-driver", DRIVER)
        self.command = ("buildah", *store)

    def __call__(self, *arguments: str) -> str:
        return run([*APART, *self.command, *arguments], ENVIRONMENT)

    def build(self, name: str, dockerfile: Path, context: Path, *more: str) -> None:
        """Build the image. Unchanged steps are cached, and nothing is pulled."""
        flags = ("--layers", "--force-rm", "--pull-never", "--network=host", *more)
        self("build", *flags, f"--file={dockerfile}", f"--tag={name}", str(context))

    def copy(self, name: str, layout: Path) -> None:
        """Export the image into an OCI layout, without compression, because it is read only once and on this machine.
        Existing blobs are not written again. (buildah's own `push` always compresses.)
        """
        store = f"containers-storage:[{DRIVER}@{self._root}+{self._run}]{name}"
        flags = ("--quiet", "--dest-oci-accept-uncompressed-layers")
        run([*APART, "skopeo", "copy", *flags, store, f"oci:{layout}:{name}"])

    def has(self, name: str) -> bool:
        try:
            self("inspect", "--type=image", name)
        except ClusterError:
            return False
        return True

    def forget_unused(self) -> None:
        """Remove build steps without a named image, which would fill the disk and slow down the search for a step."""
        self("rmi", "--prune", "--force")


def images() -> Path:
    return cache_folder() / "images"


def layout() -> Layout:
    return Layout(images() / "layout")


def buildah() -> Buildah:
    return Buildah(images() / "buildah")
