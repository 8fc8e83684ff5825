"""Determines which nodes admit a pod."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainwright_operator.model.observed import Node, Taint
from trainwright_operator.model.reading import mapping, mappings

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def admitting(pod: Mapping[str, Any], nodes: Iterable[Node]) -> tuple[Node, ...]:
    """Return the nodes that the pod's selector, required affinity and tolerations allow, regardless of free room."""
    return tuple(node for node in nodes if _usable(node) and _selected(pod, node) and _tolerated(pod, node))


def kept_off(pod: Mapping[str, Any], nodes: Iterable[Node]) -> tuple[Node, Taint] | None:
    """Return the first node that only a taint closes to the pod, and the taint; None if there is no such node.

    Kubernetes' own taints, such as node.kubernetes.io/disk-pressure, pass, and are none that a user would tolerate.
    """
    found = (
        (node, taint) for node in nodes if _usable(node) and _selected(pod, node) for taint in _untolerated(pod, node)
    )
    return next((one for one in found if not one[1].key.startswith("node.")), None)


def _usable(node: Node) -> bool:
    return node.ready and not node.unschedulable


def _selected(pod: Mapping[str, Any], node: Node) -> bool:
    if any(node.labels.get(key) != value for key, value in mapping(pod, "nodeSelector").items()):
        return False
    # The user wrote the affinity, and nothing validates it before the API server receives the pod.
    terms = list(mappings(mapping(pod, "affinity", "nodeAffinity", _REQUIRED).get("nodeSelectorTerms")))
    return not terms or any(_matches(term, node) for term in terms)


def _matches(term: Mapping[str, Any], node: Node) -> bool:
    return all(_meets(expression, node) for expression in mappings(term.get("matchExpressions")))


def _meets(expression: Mapping[str, Any], node: Node) -> bool:
    value, values = node.labels.get(str(expression.get("key"))), expression.get("values")
    values = values if isinstance(values, list) else []
    operator = expression.get("operator")
    if operator == "In":
        return value in values
    if operator == "NotIn":
        return value not in values
    if operator == "DoesNotExist":
        return value is None
    if operator in ("Gt", "Lt"):
        return _compares(operator, value, values)
    return value is not None


def _compares(operator: str, value: str | None, values: list[str]) -> bool:
    try:
        found, bound = int(value or ""), int(values[0])
    except (ValueError, TypeError, IndexError):
        return False
    return found > bound if operator == "Gt" else found < bound


def _tolerated(pod: Mapping[str, Any], node: Node) -> bool:
    return not any(_untolerated(pod, node))


def _untolerated(pod: Mapping[str, Any], node: Node) -> Iterator[Taint]:
    tolerations = pod.get("tolerations") or []
    hard = (taint for taint in node.taints if taint.effect in ("NoSchedule", "NoExecute"))
    return (taint for taint in hard if not any(_tolerates(toleration, taint) for toleration in tolerations))


def _tolerates(toleration: Mapping[str, Any], taint: Taint) -> bool:
    if toleration.get("effect") not in (None, "", taint.effect):
        return False
    if not toleration.get("key"):
        return toleration.get("operator") == "Exists"
    if toleration["key"] != taint.key:
        return False
    return toleration.get("operator") == "Exists" or (toleration.get("value") or "") == taint.value
