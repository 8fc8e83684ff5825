"""Run a function or an actor on one node of a Ray cluster, beside the tasks that it starts itself."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import ray
from ray.actor import ActorHandle
from ray.exceptions import RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from trainwright_trainer.backends.ray.environment import enter
from trainwright_trainer.backends.ray.nodes import living_nodes
from trainwright_trainer.errors import Outcome, losing

T = TypeVar("T")
A_PROCESS = "a process on the cluster"
"""The name of what was lost, in messages."""


def nodes_with_cpus() -> dict[str, int]:
    """The CPUs of each living node that has some, by its id. The head of a cluster has none, and little memory."""
    cpus = {node["NodeID"]: int(node["Resources"].get("CPU", 0)) for node in living_nodes()}
    return {node: count for node, count in cpus.items() if count}


def on_one_node(work: Callable[[], T], retries: int) -> T:
    """The result of `work`, from a process on a node with CPUs. If the process is lost, it is called again, at most
    `retries` times. Raises the exceptions of `work`, and `EnvironmentFailure` if no retry is left.
    """
    node = next(iter(nodes_with_cpus()), ray.get_runtime_context().get_node_id())
    where = NodeAffinitySchedulingStrategy(node, soft=True)
    remote: Any = ray.remote  # the overloads of `ray.remote` lack this strategy
    task = remote(num_cpus=0, max_retries=retries, scheduling_strategy=where)(_ended)
    with losing(A_PROCESS, (RayError,)):
        end: T | Outcome = ray.get(task.remote(partial(_in_folder, os.getcwd(), work)))
    if isinstance(end, Outcome):
        raise end.error()
    return end


def _in_folder(folder: str, work: Callable[[], T]) -> T:
    enter(folder)
    return work()


def actor_here(kind: type, *arguments: Any) -> ActorHandle[Any]:
    """A new actor of this class on the node of this process. It takes no CPU."""
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    remote: Any = ray.remote  # the overloads of `ray.remote` lack this strategy
    handle: ActorHandle[Any] = remote(num_cpus=0, scheduling_strategy=here)(kind).remote(*arguments)
    return handle


def _ended(work: Callable[[], T]) -> T | Outcome:
    """An exception is a result, because Ray does not carry each exception unchanged."""
    try:
        return work()
    except Exception as error:  # the outermost edge of this process
        return Outcome.traced(error)
