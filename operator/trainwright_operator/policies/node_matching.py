"""Determines which nodes can run a pod, how many such pods they hold when empty, and what other pods request on them.

That no present node fits is a warning and not a failure: an autoscaler may add nodes. The scheduler decides about room
that other pods take.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from trainwright_operator.children.kind import Gang
from trainwright_operator.model.observed import Manifest, Node, Taint
from trainwright_operator.model.reading import amount, mapping, mappings

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
ON_A_NODE = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"
"""The field selector of pods that occupy a node."""


def misfit(gangs: Iterable[Gang], nodes: tuple[Node, ...]) -> str:
    """Return one line that describes the pods that no present node can hold, "" if all fit."""
    for gang in gangs:
        asked = requests(gang.pod)
        admitted = admitting(gang.pod, nodes)
        if not nodes:
            return "the cluster has no nodes"
        if not admitted:
            return f"none of the {_counted(len(nodes), 'node')} admits the pods: see podTemplate"
        room = sum(holds(node, asked) for node in admitted)
        if room == 0:
            return f"no node has {_listed(asked)}"
        if room < gang.count:
            return f"the nodes hold {room} of {_counted(gang.count, 'pod')} with {_listed(asked)} each"
    return ""


def admitting(pod: Mapping[str, Any], nodes: Iterable[Node]) -> tuple[Node, ...]:
    """Return the nodes that the pod's selector, required affinity and tolerations allow, regardless of free room."""
    return tuple(node for node in nodes if _usable(node) and _selected(pod, node) and _tolerated(pod, node))


def requests(pod: Mapping[str, Any]) -> dict[str, float]:
    """Return the pod's requests by resource, in base units, summed over containers.

    A limit counts where a request is missing.
    """
    asked: dict[str, float] = {}
    for container in pod.get("containers", ()):
        resources = container.get("resources", {})
        for name, quantity in {**resources.get("limits", {}), **resources.get("requests", {})}.items():
            asked[name] = asked.get(name, 0.0) + amount(quantity)
    return asked


def holds(node: Node, asked: Mapping[str, float]) -> int:
    """Return how many such pods fit on the empty node."""
    rooms = [node.allocatable.get(name, 0.0) / value for name, value in asked.items() if value > 0]
    return math.floor(min(rooms) + 1e-9) if rooms else int(node.allocatable.get("pods", 110))


def in_use(pods: Iterable[Manifest], resource: str) -> Mapping[str, float]:
    """Return the amount of the resource that the pods request, by node."""
    found: defaultdict[str, float] = defaultdict(float)
    for pod in pods:
        asked = _in_use_by(pod.get("spec") or {}, resource)
        if asked:
            found[pod["spec"]["nodeName"]] += asked
    return dict(found)


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
    tolerations = pod.get("tolerations") or []
    hard = (taint for taint in node.taints if taint.effect in ("NoSchedule", "NoExecute"))
    return all(any(_tolerates(toleration, taint) for toleration in tolerations) for taint in hard)


def _tolerates(toleration: Mapping[str, Any], taint: Taint) -> bool:
    if toleration.get("effect") not in (None, "", taint.effect):
        return False
    if not toleration.get("key"):
        return toleration.get("operator") == "Exists"
    if toleration["key"] != taint.key:
        return False
    return toleration.get("operator") == "Exists" or (toleration.get("value") or "") == taint.value


def _in_use_by(spec: Mapping[str, Any], resource: str) -> float:
    """Count as the scheduler does: the sum of concurrent containers, or the largest init container that runs alone."""
    before = spec.get("initContainers") or ()
    aside = [container for container in before if container.get("restartPolicy") == "Always"]
    alone = [_request(container, resource) for container in before if container not in aside]
    together = sum(_request(container, resource) for container in [*(spec.get("containers") or ()), *aside])
    return max([together, *alone])


def _request(container: Mapping[str, Any], resource: str) -> float:
    quantity = ((container.get("resources") or {}).get("requests") or {}).get(resource)
    return 0.0 if quantity is None else amount(quantity)


def _listed(asked: Mapping[str, float]) -> str:
    return ", ".join(f"{_amount(name, value)} {name}" for name, value in sorted(asked.items()) if value > 0)


def _amount(name: str, value: float) -> str:
    if name in ("memory", "ephemeral-storage"):
        return f"{value / 2**30:.3g} GiB of"
    return f"{value:g}"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
