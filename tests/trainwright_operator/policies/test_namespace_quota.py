from __future__ import annotations

import pytest

from trainwright_operator.model.observed import Held
from trainwright_operator.policies.namespace_quota import crowded
from trainwright_operator.policy import Policy


@pytest.mark.parametrize(
    ("asked", "others", "policy", "words"),
    [
        (Held(2, 2), Held(2, 2), Policy(), ""),
        (Held(2, 2), Held(2, 2), Policy(max_workers_per_namespace=4, max_gpus_per_namespace=4), ""),
        (Held(2, 0), Held(9, 9), Policy(max_gpus_per_namespace=4), ""),
        (
            Held(2, 2),
            Held(1, 3),
            Policy(max_workers_per_namespace=4, max_gpus_per_namespace=4),
            "waits for other jobs of the namespace: they hold 3 GPUs, this one needs 2, and the maximum of the "
            "namespace is 4",
        ),
        (Held(2, 0), Held(3, 0), Policy(max_workers_per_namespace=4), "they hold 3 workers, this one needs 2"),
    ],
)
def test_a_job_waits_if_it_does_not_fit_beside_the_others(
    asked: Held, others: Held, policy: Policy, words: str
) -> None:
    found = crowded(asked, others, policy)
    assert words in found
    assert bool(words) == bool(found)
