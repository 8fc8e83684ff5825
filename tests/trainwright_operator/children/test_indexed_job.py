from __future__ import annotations

import pytest

from trainwright_operator.children import child

from .child_specs import child_spec, sized


@pytest.mark.parametrize("backend", ["deepspeed", "horovod"])
@pytest.mark.parametrize(("workers", "per_pod", "pods"), [(1, 1, 1), (4, 1, 4), (4, 2, 2), (5, 2, 3)])
def test_a_gang_starts_all_its_pods_at_once(backend: str, workers: int, per_pod: int, pods: int) -> None:
    spec = child(child_spec(backend, resolved=sized(workers, per_pod)))["spec"]
    assert spec["completionMode"] == "Indexed"
    assert spec["completions"] == spec["parallelism"] == pods


def test_its_pods_find_the_first_one_by_name() -> None:
    made = child_spec("horovod")
    assert child(made)["spec"]["template"]["spec"]["subdomain"] == made.common_name
