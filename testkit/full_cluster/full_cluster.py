"""The cluster that these tests run on, with its S3: our own, or the one of KUBECONFIG and IMAGES."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from testkit.cluster import binaries
from testkit.cluster.chart import Helm
from testkit.cluster.errors import ClusterError
from testkit.cluster.images.ours import version
from testkit.cluster.kubectl import Kubectl
from testkit.cluster.node import full_cluster
from testkit.cluster.node.place import Place

S3 = ("AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
NEEDS = (
    "these tests run on a cluster with nodes: call them as root, and one is made; or set KUBECONFIG to any other, "
    f"IMAGES to the registry that holds our images, and {', '.join(S3)} to an S3 that its pods reach"
)


@dataclass(frozen=True)
class FullCluster:
    kubectl: Kubectl
    s3: Mapping[str, str]
    """The environment that S3's clients read, here and in pods."""
    registry: str
    """Where our images lie; empty where the nodes have them."""
    place: Place | None = None
    """Where it lies, where it is our own."""

    @classmethod
    def find(cls, folder: Path) -> Self:
        """Our own is started where it does not run, and goes on running."""
        if os.environ.get("KUBECONFIG"):
            return cls._of_environment(folder)
        if os.geteuid() != 0:
            raise ClusterError(NEEDS)
        place = Place.default()
        full_cluster.up(place)
        return cls(full_cluster.kubectl(place), place.s3(), registry="", place=place)

    @classmethod
    def _of_environment(cls, folder: Path) -> Self:
        missing = [name for name in ("IMAGES", *S3) if not os.environ.get(name)]
        if missing:
            raise ClusterError(f"{NEEDS}. Not set: {', '.join(missing)}")
        program = shutil.which("kubectl") or binaries.kubectl()
        kubectl = Kubectl(Path(program), Path(os.environ["KUBECONFIG"]), folder / "kubectl")
        s3 = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
        return cls(kubectl, s3, registry=os.environ["IMAGES"].rstrip("/"))

    @property
    def logs(self) -> Path | None:
        """Of its parts, where it is our own."""
        return self.place.logs if self.place else None

    @property
    def helm(self) -> Helm:
        return Helm(self.kubectl.kubeconfig)

    def image(self, repository: str) -> str:
        """As a pod names it."""
        return "/".join(filter(None, (self.registry, f"{repository}:{version()}")))
