"""A small evaluator of NetworkPolicies, in place of a network plug-in: which pod may connect to which pod and port.

It supports only the fields that our policies use, and fails on any other field instead of ignoring it.
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
    """Return True if the flow is allowed. A pod that no policy selects is open to all pods."""
    selecting = [policy["spec"] for policy in policies if _selects(policy, target)]
    if not selecting:
        return True
    return any(_allows(rule, source, target, port, protocol) for spec in selecting for rule in spec.get("ingress", ()))


def lets_out(policies: Iterable[Mapping[str, Any]], source: Pod) -> bool:
    """Return True if no policy restricts the pod's egress."""
    return not any("Egress" in policy["spec"]["policyTypes"] for policy in policies if _is_of(policy, source))


def _selects(policy: Mapping[str, Any], target: Pod) -> bool:
    _only(policy["spec"], "podSelector", "policyTypes", "ingress")
    return _is_of(policy, target) and "Ingress" in policy["spec"]["policyTypes"]


def _is_of(policy: Mapping[str, Any], pod: Pod) -> bool:
    """Return True if the policy selects the pod. A policy applies only in its own namespace."""
    return policy["metadata"]["namespace"] == pod.namespace and _matches(policy["spec"]["podSelector"], pod.labels)


def _allows(rule: Mapping[str, Any], source: Pod, target: Pod, port: int, protocol: str) -> bool:
    """Return True if the rule allows the flow. A rule without `from` or `ports` allows all sources or ports."""
    _only(rule, "from", "ports")
    from_it = not rule.get("from") or any(_is_peer(peer, source, target) for peer in rule["from"])
    at_it = not rule.get("ports") or any(_is_port(one, port, protocol) for one in rule["ports"])
    return from_it and at_it


def _is_peer(peer: Mapping[str, Any], source: Pod, target: Pod) -> bool:
    """Return True if the source matches. The default is the target's namespace, and all pods in a namespace."""
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
    """Return True if the selector matches. An empty selector matches everything."""
    _only(selector, "matchLabels")
    return selector.get("matchLabels", {}).items() <= labels.items()


def _only(section: Mapping[str, Any], *known: str) -> None:
    assert set(section) <= set(known), f"unknown here: {set(section) - set(known)}"
