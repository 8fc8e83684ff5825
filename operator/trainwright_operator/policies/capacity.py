"""Counts how many equal pods fit on nodes, wherever the scheduler puts the pods beside them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from trainwright_api.resource.quantity import is_extended
from trainwright_operator.model.observed import Amounts, Node


def free(node: Node, used: Amounts) -> Amounts:
    """Return what the pods that are counted in `used` leave of a node."""
    return {name: amount - used.get(name, 0.0) for name, amount in node.allocatable.items()}


def most_pods(each: Amounts, beside: Amounts, rooms: Mapping[str, Amounts], beside_on: Collection[str]) -> float:
    """Return how many pods that request `each` always fit. `rooms`: the free amounts by node.

    Pods that request `beside` together may take room on any of the nodes `beside_on`. They are counted where they
    cost most, so that a number that this function returns does not depend on the choice of the scheduler.
    """
    fitting = {node: pods_on(each, room) for node, room in rooms.items()}
    lost = (
        fitting[node] - pods_on(each, {name: amount - beside.get(name, 0.0) for name, amount in rooms[node].items()})
        for node in fitting
        if node in beside_on and math.isfinite(fitting[node])
    )
    return sum(fitting.values()) - max(lost, default=0.0)


def pods_on(each: Amounts, room: Amounts) -> float:
    """Return how many pods fit into the room of one node."""
    counts = (_times(room, name, asked) for name, asked in each.items() if asked > 0)
    return max(0.0, min(counts, default=math.inf))


def _times(room: Amounts, name: str, asked: float) -> float:
    """A node without an extended resource has none of it. Every node reports its own resources, such as CPUs."""
    if name not in room:
        return 0.0 if is_extended(name) else math.inf
    return float(math.floor(room[name] / asked + 1e-9))
