from __future__ import annotations

from typing import Any

from trainwright_operator.model.names import JOB_UID
from trainwright_operator.policies.in_use import InUse, requests_of_pod

GPU = "nvidia.com/gpu"


def container(gpus: str | int | None = None, **more: Any) -> dict[str, Any]:
    return {**more, "resources": {} if gpus is None else {"requests": {GPU: gpus}}}


def pod(node: str, *containers: dict[str, Any], uid: str = "", namespace: str = "team") -> dict[str, Any]:
    metadata = {"namespace": namespace, "labels": {JOB_UID: uid} if uid else {}}
    return {"metadata": metadata, "spec": {"nodeName": node, "containers": list(containers)}}


def gpus(*containers: dict[str, Any], before: tuple[dict[str, Any], ...] = ()) -> float:
    return requests_of_pod({"containers": list(containers), "initContainers": list(before)}).get(GPU, 0.0)


def test_requests_are_summed_by_node() -> None:
    found = InUse()
    found.add([pod("a", container("1"), container(2)), pod("a", container("1")), pod("b", container("4"))])
    assert found.of_others("team", "x") == {"a": {GPU: 4.0, "pods": 2.0}, "b": {GPU: 4.0, "pods": 1.0}}


def test_the_pods_of_the_job_itself_do_not_count() -> None:
    found = InUse()
    found.add([pod("a", container("1"), uid="x"), pod("a", container("2"), uid="y")])
    found.add([pod("a", container("4"), uid="x", namespace="another")])  # anybody may write a label
    assert found.of_others("team", "x")["a"][GPU] == 6.0


def test_a_limit_without_a_request_is_a_request() -> None:
    found = requests_of_pod({"containers": [{"resources": {"limits": {"cpu": "2"}, "requests": {"memory": "1Ki"}}}]})
    assert found == {"cpu": 2.0, "memory": 1024.0, "pods": 1.0}


def test_what_runs_before_counts_where_it_is_larger() -> None:
    assert gpus(container("1"), before=(container("2"),)) == 2.0
    assert gpus(container("3"), before=(container("2"),)) == 3.0


def test_a_sidecar_runs_beside() -> None:
    assert gpus(container("1"), before=(container("1", restartPolicy="Always"),)) == 2
