from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainwright_operator.model.observed import Node
from trainwright_operator.policies.capacity import free, most_pods, pods_on

CPU = {"cpu": 1.0}
GPU = "nvidia.com/gpu"


@pytest.mark.parametrize(
    ("each", "room", "found"),
    [
        ({"cpu": 0.1}, {"cpu": 0.3}, 3),
        ({"cpu": 2.0, "memory": 8.0}, {"cpu": 9.0, "memory": 16.0}, 2),
        ({"cpu": 1.0, GPU: 1.0}, {"cpu": 9.0}, 0),
        ({"cpu": 1.0, "memory": 1.0}, {"cpu": 2.0}, 2),
        ({"cpu": 0.0, "pods": 1.0}, {"cpu": 0.0, "pods": 3.0}, 3),
        (CPU, {"cpu": -1.0}, 0),
    ],
    ids=["fractions", "the scarcest", "an extended resource", "one that is not reported", "none", "less than nothing"],
)
def test_pods_on_a_node(each: dict[str, float], room: dict[str, float], found: int) -> None:
    assert pods_on(each, room) == found


def test_what_others_use_is_not_free() -> None:
    node = Node("a", True, False, {}, (), {"cpu": 4.0, "memory": 8.0})
    assert free(node, {"cpu": 1.0, GPU: 1.0}) == {"cpu": 3.0, "memory": 8.0}


def test_pods_beside_are_counted_where_they_cost_most() -> None:
    rooms = {"a": {"cpu": 2.0}, "b": {"cpu": 2.5}}
    assert most_pods(CPU, {"cpu": 0.5}, rooms, ("a", "b")) == 3
    assert most_pods(CPU, {"cpu": 0.5}, rooms, ("b",)) == 4
    assert most_pods(CPU, {"cpu": 0.5}, rooms, ()) == 4


@given(st.lists(st.integers(0, 9), min_size=1, max_size=4), st.integers(0, 3), st.integers(1, 3))
def test_that_many_pods_fit_wherever_the_one_beside_goes(cpus: list[int], beside: int, each: int) -> None:
    rooms = {str(index): {"cpu": float(count)} for index, count in enumerate(cpus)}
    found = most_pods({"cpu": float(each)}, {"cpu": float(beside)}, rooms, tuple(rooms))
    fitting = [
        sum((count - beside * (index == place)) // each for index, count in enumerate(cpus))
        for place, room in enumerate(cpus)
        if room >= beside
    ]
    assert all(found <= count for count in fitting)
    if beside == 0:
        assert found == sum(count // each for count in cpus)
    assert found >= max(0, sum(count // each for count in cpus) - max(itertools.chain([0], (c // each for c in cpus))))
