"""What a network plug-in makes of NetworkPolicies, as far as ours go: who may come in to which pod, at which port.

It knows the fields that our policies use, and refuses any other rather than to pass over it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Pod:
    namespace: str
    labels: Mapping[str, str]


def admits(policies: Iterable[Mapping[str, Any]], source: Pod, target: Pod, port: int, protocol: str = "TCP") -> bool:
    """A pod that no policy selects is open to all; one that is selected, only to what a policy allows."""
    selecting = [policy["spec"] for policy in policies if _selects(policy, target)]
    if not selecting:
        return True
    return any(_allows(rule, source, target, port, protocol) for spec in selecting for rule in spec.get("ingress", ()))


def lets_out(policies: Iterable[Mapping[str, Any]], source: Pod) -> bool:
    """Whether nothing is said of what goes out."""
    return not any("Egress" in policy["spec"]["policyTypes"] for policy in policies if _is_of(policy, source))


def _selects(policy: Mapping[str, Any], target: Pod) -> bool:
    _only(policy["spec"], "podSelector", "policyTypes", "ingress")
    return _is_of(policy, target) and "Ingress" in policy["spec"]["policyTypes"]


def _is_of(policy: Mapping[str, Any], pod: Pod) -> bool:
    """A policy acts in its own namespace."""
    return policy["metadata"]["namespace"] == pod.namespace and _matches(policy["spec"]["podSelector"], pod.labels)


def _allows(rule: Mapping[str, Any], source: Pod, target: Pod, port: int, protocol: str) -> bool:
    """Without `from`, or without `ports`, all are meant."""
    _only(rule, "from", "ports")
    from_it = not rule.get("from") or any(_is_peer(peer, source, target) for peer in rule["from"])
    at_it = not rule.get("ports") or any(_is_port(one, port, protocol) for one in rule["ports"])
    return from_it and at_it


def _is_peer(peer: Mapping[str, Any], source: Pod, target: Pod) -> bool:
    """Without a selector of namespaces, the policy's own is meant; without one of pods, all that are there."""
    _only(peer, "podSelector", "namespaceSelector")
    labels_of_namespace = {"kubernetes.io/metadata.name": source.namespace}
    near = source.namespace == target.namespace
    if "namespaceSelector" in peer:
        near = _matches(peer["namespaceSelector"], labels_of_namespace)
    return near and _matches(peer.get("podSelector", {}), source.labels)


def _is_port(allowed: Mapping[str, Any], port: int, protocol: str) -> bool:
    _only(allowed, "port", "protocol")
    return allowed.get("protocol", "TCP") == protocol and allowed.get("port", port) == port


def _matches(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """An empty selector selects all."""
    _only(selector, "matchLabels")
    return selector.get("matchLabels", {}).items() <= labels.items()


def _only(section: Mapping[str, Any], *known: str) -> None:
    assert set(section) <= set(known), f"unknown here: {set(section) - set(known)}"
