"""The wire between the machine and the nodes: a bridge here, and for each node a network namespace with a bridge."""

from __future__ import annotations

from collections.abc import Sequence

from testkit.cluster.api_server import SERVICES
from testkit.cluster.errors import ClusterError
from testkit.cluster.node.cluster_folder import BRIDGE, HOST, NETWORK, Site
from testkit.cluster.node.commands import run, succeeds

# Inside a node's namespace: its own bridge, which its pods hang on, and the cable to the machine's.
PODS, UPLINK = "pods", "uplink"
# What one pod sends another by a service is routed, not bridged: so an answer comes back the way the question went,
# also where both pods hang on the same wire.
SETTINGS = ("net.ipv4.ip_forward=1", "net.bridge.bridge-nf-call-iptables=0")
BITS = NETWORK.rpartition("/")[2]


def lay() -> None:
    """The machine's bridge, with the address at which the control plane listens."""
    if not succeeds("ip", "link", "show", BRIDGE):
        run("ip", "link", "add", BRIDGE, "type", "bridge")
        run("ip", "address", "add", f"{HOST}/{BITS}", "dev", BRIDGE)
        run("ip", "link", "set", BRIDGE, "up")


def connect(site: Site) -> None:
    """A namespace for the node, on one wire with the machine and with all other nodes."""
    space = site.namespace
    run("ip", "netns", "add", space)
    run("ip", "link", "add", site.wire, "type", "veth", "peer", "name", UPLINK, "netns", space)
    run("ip", "link", "set", site.wire, "master", BRIDGE, "up")
    run("ip", "-n", space, "link", "add", PODS, "type", "bridge")
    run("ip", "-n", space, "address", "add", f"{site.address}/{BITS}", "dev", PODS)
    run("ip", "-n", space, "link", "set", UPLINK, "master", PODS, "up")
    for device in ("lo", PODS):
        run("ip", "-n", space, "link", "set", device, "up")
    run("ip", "-n", space, "route", "add", "default", "via", HOST)
    run(*inside(site), "sysctl", "--ignore", "--quiet", "--write", *SETTINGS)


def reach_services(site: Site) -> None:
    """The API server calls webhooks by the addresses of their services, which only a node can translate."""
    run("ip", "route", "replace", SERVICES, "via", site.address)


def disconnect(site: Site) -> None:
    """The namespace goes with the last process inside, and all of its rules with it."""
    _delete(site.wire)
    if is_connected(site):
        run("ip", "netns", "delete", site.namespace)


def remove() -> None:
    _delete(BRIDGE)


def is_connected(site: Site) -> bool:
    return site.namespace in run("ip", "netns", "list").split()


def processes(site: Site) -> Sequence[int]:
    """Those that live in the node's namespace; its pods have namespaces of their own."""
    return [int(pid) for pid in run("ip", "netns", "pids", site.namespace).split()] if is_connected(site) else []


def inside(site: Site) -> Sequence[str]:
    """Not `ip netns exec`, which hides the machine's cgroups."""
    return ("nsenter", f"--net=/run/netns/{site.namespace}", "--")


def _delete(device: str) -> None:
    """A cable may vanish by itself, a moment after the namespace at its other end."""
    succeeds("ip", "link", "delete", device)
    if succeeds("ip", "link", "show", device):
        raise ClusterError(f"the network device {device} cannot be deleted")
