"""The network between the machine and the nodes: a bridge here, and for each node a network namespace with a bridge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from testkit.cluster.api_server import SERVICES
from testkit.cluster.errors import ClusterError
from testkit.cluster.images import command
from testkit.cluster.node.cluster_folder import BRIDGE, HOST, NETWORK, Site

# Inside a node's namespace: its own bridge, which its pods hang on, and the cable to the machine's.
PODS, UPLINK = "pods", "uplink"
# What one pod sends another by a service is routed, not bridged: so an answer comes back the way the question went,
# also where both pods hang on the same wire.
SETTINGS = ("net.ipv4.ip_forward=1", "net.bridge.bridge-nf-call-iptables=0")
BITS = NETWORK.rpartition("/")[2]


def lay() -> None:
    """Create the machine's bridge, with the address of the control plane."""
    if not succeeds("ip", "link", "show", BRIDGE):
        run("ip", "link", "add", BRIDGE, "type", "bridge")
        run("ip", "address", "add", f"{HOST}/{BITS}", "dev", BRIDGE)
        run("ip", "link", "set", BRIDGE, "up")


def connect(site: Site) -> None:
    """Create a network namespace for the node, connected to the machine and to all other nodes."""
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
    """Route the addresses of services to a node: the API server calls webhooks by them, and only a node can translate
    them.
    """
    run("ip", "route", "replace", SERVICES, "via", site.address)


def disconnect(site: Site) -> None:
    """Remove the namespace. It disappears with its last process, and so do its rules."""
    _delete(site.wire)
    if is_connected(site):
        run("ip", "netns", "delete", site.namespace)


def remove() -> None:
    _delete(BRIDGE)


def is_connected(site: Site) -> bool:
    return site.namespace in run("ip", "netns", "list").split()


def processes(site: Site) -> Sequence[int]:
    """Return the processes in the node's network namespace. Pods have namespaces of their own."""
    return [int(pid) for pid in run("ip", "netns", "pids", site.namespace).split()] if is_connected(site) else []


def inside(site: Site) -> Sequence[str]:
    """Return the command that runs in the namespace. `ip netns exec` would hide the machine's cgroups."""
    return ("nsenter", f"--net=/run/netns/{site.namespace}", "--")


def _delete(device: str) -> None:
    """Remove the link, if it exists. It disappears by itself a moment after the namespace at its other end."""
    succeeds("ip", "link", "delete", device)
    if succeeds("ip", "link", "show", device):
        raise ClusterError(f"the network device {device} cannot be deleted")


def run(*words: str | Path, environment: Mapping[str, str] | None = None) -> str:
    """Return the output of the command."""
    return command.run([str(word) for word in words], environment)


def succeeds(*words: str | Path) -> bool:
    try:
        run(*words)
    except ClusterError:
        return False
    return True
