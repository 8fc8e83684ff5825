"""The images of new nodes: imported once into a persistent store, and linked into the folder of each node."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from testkit.cluster import images
from testkit.cluster.images.layout import Layout
from testkit.cluster.node import containerd
from testkit.cluster.node.network import run
from testkit.cluster.process import Process, wait_until

KUBERNETES = "k8s.io"
CONTENT = Path("io.containerd.content.v1.content", "blobs")


class Store:
    """A folder with containerd's content and unpacked layers. containerd runs on it only while images are added."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.root = folder / "containerd"
        self._index = folder / "imported"

    def fill(self, layouts: Sequence[Layout]) -> None:
        """Import the images of the layouts that have changed."""
        index = b"\n".join((layout.folder / "index.json").read_bytes() for layout in layouts)
        if self._index.exists() and self._index.read_bytes() == index:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        with self._containerd() as socket:
            load(ctr(socket), layouts)
        for layout in layouts:
            layout.share(self.root / CONTENT)
        self._index.write_bytes(index)

    def link(self, root: Path) -> None:
        """Create the root of a node with hard links, in seconds. Unpacked layers are never modified; only the databases
        are copied.
        """
        run("cp", "--archive", "--link", self.root, root)
        for database in root.rglob("*.db"):
            young = database.with_suffix(".young")
            shutil.copyfile(database, young)
            young.rename(database)

    @contextmanager
    def _containerd(self) -> Iterator[Path]:
        socket = self._folder / "containerd.sock"
        config = containerd.configure(self._folder, self.root, self._folder / "state", socket, with_pods=False)
        program = Path(shutil.which("containerd") or "containerd")
        running = Process(program, {"config": str(config)}, self._folder / "containerd.log")
        try:
            wait_until(socket.exists, running)
            yield socket
        finally:
            running.stop()


def load(command: Sequence[str], layouts: Sequence[Layout]) -> None:
    for layout in layouts:
        images.load(command, layout=layout)


def ctr(socket: Path) -> Sequence[str]:
    """Return the command that imports images into a running containerd."""
    return ["ctr", f"--address={socket}", f"--namespace={KUBERNETES}"]
