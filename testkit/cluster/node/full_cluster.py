"""Starts and stops the full cluster. Steps that are already done are skipped."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from testkit.cluster import binaries, images, locks
from testkit.cluster.images import StaticProgram, buildah, debian
from testkit.cluster.images.command import step
from testkit.cluster.images.layout import Layout, put_program
from testkit.cluster.kubectl import Kubectl
from testkit.cluster.node import containerd, kuberay, network, node, programs, supervisor
from testkit.cluster.node.cluster_folder import FIRST, SECOND, ClusterFolder
from testkit.cluster.node.node import Node
from testkit.cluster.node.store import Store, ctr, load


def up(place: ClusterFolder, with_ours: bool = True) -> None:
    """Start it with our images, or only with those that the cluster itself needs. Callers at the same time wait."""
    with locks.locked(place.root / "lock"):
        debian.install_for_node()
        binaries.programs()
        binaries.kubectl()
        programs.build()
        layouts = _layouts(place, with_ours)
        if supervisor.is_alive(place):
            load(ctr(place.socket(FIRST)), layouts)
        else:
            _remove(place)
            Store(place.images).fill(layouts)
            supervisor.start(place)
        kuberay.install(kubectl(place), place)


def down(place: ClusterFolder) -> None:
    """Stop it, and remove everything except the images and the programs."""
    with locks.locked(place.root / "lock"), step("removing the cluster"):
        supervisor.stop(place)
        _remove(place)


@contextmanager
def another(place: ClusterFolder) -> Iterator[Node]:
    """Add a second node with the same images to the running cluster. The block may kill it."""
    node.remove(place, SECOND)  # left by a run that was killed
    second = Node(place, SECOND, programs.node().folder())
    try:
        second.start()
        second.wait_until_ready(kubectl(place))
        load(ctr(place.socket(SECOND)), [_own(place), buildah.layout()])
        yield second
    finally:
        second.kill()
        kubectl(place)("delete", f"node/{SECOND.name}", "--ignore-not-found")
        node.remove(place, SECOND)


def kubectl(place: ClusterFolder) -> Kubectl:
    return Kubectl(binaries.kubectl(), place.kubeconfig, place.running / "kubectl")


def usage(place: ClusterFolder) -> str:
    exports = [f"  export {name}={value}" for name, value in {**kubectl(place).environment, **place.s3()}.items()]
    path = f"{binaries.kubectl().parent}:{programs.helm().folder()}"
    return "\n".join(
        [
            f"Kubernetes {binaries.kubernetes_version()} with KubeRay {programs.kuberay_version()} and S3. In a shell:",
            *exports,
            f'  export PATH="{path}:$PATH"',
            f"Logs of all its parts, and the audit log: {place.running}",
            "make cluster-down ends it and removes everything.",
        ]
    )


def _layouts(place: ClusterFolder, with_ours: bool) -> Sequence[Layout]:
    """Return the layouts. The cluster's own images are separate from ours, which take minutes to build."""
    own = _own(place)
    put_program(StaticProgram(containerd.PAUSE, programs.pause().path(), "/pause"), own)
    put_program(StaticProgram(kuberay.image(), programs.kuberay().path(), "/manager"), own)
    if not with_ours:
        return [own]
    ours = images.build()
    return [own, *(Layout(folder) for folder in set(ours.values()))]


def _own(place: ClusterFolder) -> Layout:
    return Layout(place.images / "layout")


def _remove(place: ClusterFolder) -> None:
    """Remove all remains, including those of a killed supervisor."""
    for site in (FIRST, SECOND):
        node.remove(place, site)
    network.remove()
    node.remove_mount_points()
    shutil.rmtree(place.running, ignore_errors=True)
