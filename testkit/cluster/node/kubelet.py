"""The configuration files of the kubelet and kube-proxy of a node."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from testkit.cluster.node.cluster_folder import DOMAIN, HOST, NETWORK, Site


def configure(folder: Path, site: Site, socket: Path, ca: Path) -> Path:
    """The configuration of the kubelet. Only clients with the API server's certificate have access. Images are never
    garbage-collected, because the disk is the user's.
    """
    config: dict[str, Any] = {
        "kind": "KubeletConfiguration",
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(ca)},
        },
        "authorization": {"mode": "Webhook"},
        "containerRuntimeEndpoint": f"unix://{socket}",
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{site.cgroup}",
        "failSwapOn": False,
        "maxOpenFiles": 20000,
        "clusterDNS": [HOST],
        "clusterDomain": DOMAIN,
        "resolvConf": "",
        "imageGCHighThresholdPercent": 100,
        "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
    }
    return _write(folder / "kubelet.json", config)


def configure_proxy(folder: Path, kubeconfig: Path) -> Path:
    """The configuration of kube-proxy. Traffic to services gets the node's own address as its source. Otherwise a pod
    on the same bridge would reply directly, and its peer would drop the reply.
    """
    config: dict[str, Any] = {
        "kind": "KubeProxyConfiguration",
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "mode": "iptables",
        "clientConnection": {"kubeconfig": str(kubeconfig)},
        "clusterCIDR": NETWORK,
        "conntrack": {"maxPerCore": 0},
        "iptables": {"masqueradeAll": True},
    }
    return _write(folder / "kube-proxy.json", config)


def _write(path: Path, config: dict[str, Any]) -> Path:
    path.write_text(json.dumps(config, indent=2))
    return path
