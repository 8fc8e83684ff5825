"""Checks if the present nodes, when empty, can hold the pods of a job.

A negative answer is a warning and not a failure: an autoscaler may add nodes. The scheduler decides about room that
other pods take.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from trainwright_operator.children.kind import Gang
from trainwright_operator.model.observed import Node
from trainwright_operator.policies.node_matching import admitting, holds, requests


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


def _listed(asked: Mapping[str, float]) -> str:
    return ", ".join(f"{_amount(name, value)} {name}" for name, value in sorted(asked.items()) if value > 0)


def _amount(name: str, value: float) -> str:
    if name in ("memory", "ephemeral-storage"):
        return f"{value / 2**30:.3g} GiB of"
    return f"{value:g}"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
