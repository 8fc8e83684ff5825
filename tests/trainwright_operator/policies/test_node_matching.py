from __future__ import annotations

from typing import Any

import pytest

from trainwright_operator.model.observed import Node, Taint
from trainwright_operator.policies.node_matching import admitting

NODE = Node("n", True, False, {"zone": "a", "gpus": "8"}, (), {"cpu": 4.0, "memory": 2.0**34, "pods": 110})


def required(key: str, operator: str, *values: str) -> dict[str, Any]:
    term = {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}
    selector = {"nodeSelectorTerms": [term]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": selector}}}


@pytest.mark.parametrize(
    ("pod", "admitted"),
    [
        ({}, True),
        ({"nodeSelector": {"zone": "a"}}, True),
        ({"nodeSelector": {"zone": "b"}}, False),
        (required("zone", "In", "a", "b"), True),
        (required("zone", "NotIn", "a"), False),
        (required("zone", "Exists"), True),
        (required("rack", "Exists"), False),
        (required("rack", "DoesNotExist"), True),
        (required("gpus", "Gt", "4"), True),
        (required("gpus", "Lt", "4"), False),
        (required("zone", "Gt", "4"), False),
        ({"affinity": {"nodeAffinity": ["nonsense"]}}, True),
        (
            {
                "affinity": {
                    "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": 7}}
                }
            },
            True,
        ),
    ],
)
def test_selectors_and_affinity(pod: dict[str, Any], admitted: bool) -> None:
    assert bool(admitting(pod, [NODE])) is admitted


@pytest.mark.parametrize(
    ("tolerations", "admitted"),
    [
        ([], False),
        ([{"operator": "Exists"}], True),
        ([{"key": "gpu", "operator": "Exists"}], True),
        ([{"key": "gpu", "value": "yes"}], True),
        ([{"key": "gpu", "value": "no"}], False),
        ([{"key": "gpu", "operator": "Exists", "effect": "NoExecute"}], False),
        ([{"key": "other", "operator": "Exists"}], False),
    ],
)
def test_taints_keep_pods_off(tolerations: list[dict[str, str]], admitted: bool) -> None:
    tainted = Node("t", True, False, {}, (Taint("gpu", "NoSchedule", "yes"), Taint("soft", "PreferNoSchedule")), {})
    assert bool(admitting({"tolerations": tolerations}, [tainted])) is admitted


def test_nodes_that_are_not_ready_or_cordoned_are_left_out() -> None:
    cordoned, broken = Node("c", True, True, {}, (), {}), Node("b", False, False, {}, (), {})
    assert admitting({}, [cordoned, broken, NODE]) == (NODE,)
