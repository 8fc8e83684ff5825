from __future__ import annotations

from trainwright_operator.children import child
from trainwright_operator.children.kind import Gang
from trainwright_operator.children.read_child import gangs
from trainwright_operator.model.observed import Node
from trainwright_operator.policies.node_matching import misfit

from ..children.child_specs import child_spec, sized

POD = {"containers": [{"resources": {"requests": {"cpu": 2, "memory": "4Gi", "nvidia.com/gpu": 1}}}]}
NODE = Node("n", True, False, {}, (), {"cpu": 8.0, "memory": 2.0**36, "nvidia.com/gpu": 2.0})


def test_pods_that_the_empty_nodes_hold_fit() -> None:
    assert misfit([Gang(POD, 2)], (NODE,)) == ""
    assert misfit([Gang(POD, 4)], (NODE, NODE)) == ""


def test_the_line_says_what_is_missing() -> None:
    assert (
        misfit([Gang(POD, 3)], (NODE,))
        == "the nodes hold 2 of 3 pods with 2 cpu, 4 GiB of memory, 1 nvidia.com/gpu each"
    )
    huge = {"containers": [{"resources": {"limits": {"nvidia.com/gpu": 8}}}]}
    assert misfit([Gang(huge, 1)], (NODE,)) == "no node has 8 nvidia.com/gpu"
    picky = {**POD, "nodeSelector": {"gpu": "h200"}}
    assert misfit([Gang(picky, 1)], (NODE,)) == "none of the 1 node admits the pods: see podTemplate"


def test_what_submits_a_ray_job_is_one_of_its_gang() -> None:
    found = [
        (gang.pod["containers"][0]["name"], gang.count) for gang in gangs(child(child_spec("ray", resolved=sized(4))))
    ]
    assert found == [("ray", 4), ("ray", 1), ("submitter", 1)]
    assert gangs(child(child_spec("horovod", resolved=sized(4))))[0].count == 4
