"""The cluster's own folder, bridge and range of addresses, separate from the machine's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from testkit.cluster.program import cache_folder

BRIDGE = "trainwright0"
# The machine's address on the bridge: here listen the API server, DNS and S3.
HOST = "10.87.0.1"
NETWORK = "10.87.0.0/16"
API_PORT = 6443
API_URL = f"https://{HOST}:{API_PORT}"
S3_PORT = 7070
DOMAIN = "cluster.local"


@dataclass(frozen=True)
class ClusterFolder:
    """`root` contains the images, which stay for the next cluster, and `running`, which is removed with the cluster."""

    root: Path

    @classmethod
    def default(cls) -> ClusterFolder:
        return cls(cache_folder() / "cluster")

    @property
    def images(self) -> Path:
        return self.root / "images"

    @property
    def running(self) -> Path:
        return self.root / "running"

    @property
    def logs(self) -> Path:
        return self.running / "logs"

    @property
    def kubeconfig(self) -> Path:
        return self.running / "kubeconfig"

    def keep_s3(self, environment: Mapping[str, str]) -> None:
        """Write the address and the keys of S3 for other processes. Only the owner can read the file."""
        file = self.running / "s3.json"
        file.touch(mode=0o600)
        file.write_text(json.dumps(environment))

    def s3(self) -> Mapping[str, str]:
        """The environment that S3's clients read."""
        known: dict[str, str] = json.loads((self.running / "s3.json").read_text())
        return known

    def node(self, name: str) -> Path:
        return self.running / "nodes" / name

    def socket(self, site: Site) -> Path:
        """Return the socket of the node's containerd."""
        return self.node(site.name) / "containerd.sock"


@dataclass(frozen=True)
class Site:
    """A node's part of the network. All nodes and pods are on one bridge."""

    name: str
    number: int

    @property
    def namespace(self) -> str:
        return f"trainwright-{self.name}"

    @property
    def wire(self) -> str:
        """The machine's end of the virtual Ethernet pair to the node."""
        return f"trainwright-{self.number}"

    @property
    def address(self) -> str:
        return f"10.87.{64 * self.number}.1"

    @property
    def first_pod(self) -> str:
        return f"10.87.{64 * self.number}.2"

    @property
    def last_pod(self) -> str:
        return f"10.87.{64 * self.number + 63}.254"

    @property
    def cgroup(self) -> str:
        return f"trainwright/{self.name}"


FIRST = Site("node-1", 1)
SECOND = Site("node-2", 2)
