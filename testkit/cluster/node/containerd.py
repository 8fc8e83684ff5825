"""containerd runs containers and stores images. Its configuration keeps it apart from the machine's own containerd."""

from __future__ import annotations

import json
from pathlib import Path

from testkit.cluster.images.debian import CNI
from testkit.cluster.node.cluster_folder import NETWORK, Site
from testkit.cluster.node.network import PODS

PAUSE = "localhost/pause:3"
CRI = "io.containerd.grpc.v1.cri"
CONFIG = """\
version = 2
root = "{root}"
state = "{state}"
disabled_plugins = {disabled}
[grpc]
  address = "{socket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{pause}"
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{cni}"
    conf_dir = "{cni_config}"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
"""


def configure(folder: Path, root: Path, state: Path, socket: Path, with_pods: bool = True) -> Path:
    """Write config.toml. Without pods, this containerd only stores images."""
    path = folder / "containerd.toml"
    path.write_text(
        CONFIG.format(
            root=root,
            state=state,
            socket=socket,
            pause=PAUSE,
            cni=CNI,
            cni_config=folder / "cni",
            disabled=json.dumps([] if with_pods else [CRI]),
        )
    )
    return path


def configure_network(folder: Path, site: Site) -> None:
    """Connect pods to the node's bridge, with addresses from its range."""
    addresses = {
        "type": "host-local",
        "dataDir": str(folder / "addresses"),
        "ranges": [[_range(site)]],
        "routes": [{"dst": "0.0.0.0/0"}],
    }
    bridge = {"type": "bridge", "bridge": PODS, "isGateway": True, "hairpinMode": True, "ipam": addresses}
    config = {"cniVersion": "1.0.0", "name": "pods", "plugins": [bridge]}
    (folder / "cni").mkdir()
    (folder / "cni" / "10-pods.conflist").write_text(json.dumps(config, indent=2))


def _range(site: Site) -> dict[str, str]:
    return {"subnet": NETWORK, "rangeStart": site.first_pod, "rangeEnd": site.last_pod, "gateway": site.address}
