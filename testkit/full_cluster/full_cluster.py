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
from testkit.cluster.node.cluster_folder import ClusterFolder

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
    """The registry of our images; empty if the nodes hold them."""
    place: ClusterFolder | None = None
    """The folders of the cluster that testkit runs; None for any other cluster."""

    @classmethod
    def find(cls, folder: Path) -> Self:
        """The cluster of KUBECONFIG, or our own, which is started if needed and keeps running."""
        if os.environ.get("KUBECONFIG"):
            return cls._of_environment(folder)
        if os.geteuid() != 0:
            raise ClusterError(NEEDS)
        place = ClusterFolder.default()
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
        """The logs of its servers; None for a cluster that testkit does not run."""
        return self.place.logs if self.place else None

    @property
    def helm(self) -> Helm:
        return Helm(self.kubectl.kubeconfig)

    def image(self, repository: str) -> str:
        """The name of the image in a pod spec."""
        return "/".join(filter(None, (self.registry, f"{repository}:{version()}")))
