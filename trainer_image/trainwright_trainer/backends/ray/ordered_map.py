"""Read, map and collect with Ray Data: tasks read items, actors map them, and the caller gets the results in order.

Ray Data moves each item as one row of bytes, so it neither looks into items nor splits or joins them. Its executor
limits how far tasks and actors work ahead, starts lost actors again, and repeats their tasks. It does so without a
limit, so losses are counted here.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

import pyarrow as pa
import ray
import ray.data
from ray.actor import ActorHandle
from ray.data import ActorPoolStrategy, Dataset, ExecutionOptions
from ray.exceptions import RayError

from trainwright_trainer.backends.ray.environment import enter
from trainwright_trainer.backends.ray.messages import pickled, unpickled
from trainwright_trainer.backends.ray.one_node import A_PROCESS, actor_here
from trainwright_trainer.backends.ray.resources import Pool
from trainwright_trainer.errors import EnvironmentFailure, Outcome, losing

Shared = TypeVar("Shared")
Part = TypeVar("Part")
Item = TypeVar("Item")
Result = TypeVar("Result")
_PART, _ITEM = "part", "item"


def ordered_map(
    pool: Pool,
    shared: Shared,
    parts: Sequence[Part],
    read: Callable[[Shared, Part], Iterator[Item]],
    make: Callable[[], Callable[[Item], Result]],
) -> Iterator[Result]:
    """The results of all items that `read(shared, part)` yields, in their order. Each actor calls `make()` once.

    `shared` is stored once for all tasks. Raises the exception of the first item that fails, and `EnvironmentFailure`
    if processes are lost more often than the pool allows. `read` has to yield the same items when it is called again.
    """
    losses = actor_here(Losses, pool.retries)
    items = partial(_items, os.getcwd(), read, ray.put(shared), parts, losses)
    try:
        with losing(A_PROCESS, (RayError,)):
            for batch in _dataset(pool, items, len(parts), (os.getcwd(), make, losses)):
                for cell in batch[_ITEM]:
                    found = unpickled(cell.as_buffer())
                    if isinstance(found, Outcome):
                        raise found.error()
                    yield found
    finally:
        ray.kill(losses)


def _dataset(
    pool: Pool, read: Callable[[dict[str, Any]], Iterator[dict[str, Any]]], parts: int, of_actor: tuple[Any, ...]
) -> Iterator[pa.Table]:
    """The results as tables. `read` gets a row with the number of a part; `of_actor`: the arguments of `_Actor`."""
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    numbers = ray.data.from_items([{_PART: number} for number in range(parts)], override_num_blocks=parts)
    # Ray Data does not fuse the two steps, because a flat map changes the number of rows.
    found: Dataset = numbers.flat_map(read, num_cpus=pool.reader_cpus).map_batches(
        _Actor,
        fn_constructor_args=of_actor,
        compute=ActorPoolStrategy(min_size=pool.least, max_size=pool.most, max_tasks_in_flight_per_actor=2),
        batch_size=1,
        batch_format="pyarrow",
        **pool.actor_options,
    )
    context = found.context
    context.execution_options = ExecutionOptions(preserve_order=True)
    context.target_max_block_size = 1  # each item is a block of its own
    context.enable_progress_bars = context.print_on_execution_start = False
    yield from found.iter_batches(batch_size=None, batch_format="pyarrow")


class Losses:
    """An actor that counts lost processes: actors that start again, and parts that are read again."""

    def __init__(self, retries: int) -> None:
        self._left = retries
        self._begun: set[int] = set()

    def actor_lost(self) -> bool:
        """Count a loss. False if no retry is left."""
        self._left -= 1
        return self._left >= 0

    def part_begins(self, part: int) -> bool:
        """Count a loss if the part has begun before. False if no retry is left."""
        again = part in self._begun
        self._begun.add(part)
        return self.actor_lost() if again else True


def _items(
    folder: str,
    read: Callable[[Any, Any], Iterator[Any]],
    shared: Any,
    parts: Sequence[Any],
    losses: ActorHandle[Any],
    row: dict[str, Any],
) -> Iterator[dict[str, Any]]:
    """The items of a part, in a task. An exception is the last item, because Ray does not carry each one unchanged."""
    enter(folder)
    try:
        _check(bool(ray.get(losses.part_begins.remote(row[_PART]))))
        for item in read(ray.get(shared), parts[row[_PART]]):
            yield {_ITEM: pickled(item)}
    except Exception as error:  # the outermost edge of the task
        yield {_ITEM: pickled(Outcome.traced(error))}


class _Actor:
    """Maps one item at a time."""

    def __init__(self, folder: str, make: Callable[[], Callable[[Any], Any]], losses: ActorHandle[Any]) -> None:
        enter(folder)
        self._function: Callable[[Any], Any] | Outcome
        try:
            if ray.get_runtime_context().was_current_actor_reconstructed:
                _check(bool(ray.get(losses.actor_lost.remote())))
            self._function = make()
        except Exception as error:  # the outermost edge of the actor
            self._function = Outcome.traced(error)

    def __call__(self, batch: pa.Table) -> pa.Table:
        mapped = self._mapped(unpickled(batch[_ITEM][0].as_buffer()))
        return pa.table({_ITEM: pa.array([pickled(mapped)], pa.large_binary())})

    def _mapped(self, item: Any) -> Any:
        if isinstance(item, Outcome):
            return item
        if isinstance(self._function, Outcome):
            return self._function
        try:
            return self._function(item)
        except Exception as error:  # the outermost edge of the actor
            return Outcome.traced(error)


def _check(has_retry: bool) -> None:
    if not has_retry:
        raise EnvironmentFailure(f"{A_PROCESS} was lost, and no retry is left")
