from __future__ import annotations

from typing import Any

from trainwright_operator.policies.node_matching import in_use

GPU = "nvidia.com/gpu"


def container(gpus: str | int | None = None, **more: Any) -> dict[str, Any]:
    return {**more, "resources": {} if gpus is None else {"requests": {GPU: gpus}}}


def pod(node: str, *containers: dict[str, Any], before: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    return {"spec": {"nodeName": node, "containers": list(containers), "initContainers": list(before)}}


def test_requests_are_summed_by_node() -> None:
    pods = [pod("a", container("1"), container(2)), pod("a", container("1")), pod("b", container("4"))]
    assert in_use(pods, GPU) == {"a": 4.0, "b": 4.0}


def test_pods_that_ask_for_none_take_none() -> None:
    assert in_use([pod("a", container()), {"spec": {"nodeName": "a", "containers": [{}]}}], GPU) == {}


def test_what_runs_before_counts_where_it_is_larger() -> None:
    assert in_use([pod("a", container("1"), before=(container("2"),))], GPU) == {"a": 2.0}
    assert in_use([pod("a", container("3"), before=(container("2"),))], GPU) == {"a": 3.0}


def test_a_sidecar_runs_beside() -> None:
    assert in_use([pod("a", container("1"), before=(container("1", restartPolicy="Always"),))], GPU) == {"a": 2}
