"""The channel between the driver of a search and the processes of its trials: an actor on the driver's node.

A trial that starts asks how many of its rounds Tune has already: none at its first start, and all before it was paused
or lost. While it trains, it polls for a stop request and for the end of its node.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import ray
from ray.actor import ActorHandle

from trainwright_trainer.backends.ray.one_node import actor_here

EVERY_SECONDS = 0.5
LEAVES = "its node goes away"
"""The news for the trials of a node that will go: they write a checkpoint, and start again on another node."""


class Channel:
    """The driver calls `saw`, `stop` and `leave`; the trials call the other methods."""

    def __init__(self) -> None:
        self._rounds: dict[str, int] = {}
        self._stop: str | None = None
        self._leaving: set[str] = set()

    def saw(self, trial: str, number: int) -> None:
        """Tune has the round `number` of a trial."""
        self._rounds[trial] = max(number, self.rounds(trial))

    def stop(self, reason: str) -> None:
        self._stop = self._stop or reason

    def leave(self, nodes: Iterable[str]) -> None:
        self._leaving.update(nodes)

    def rounds(self, trial: str) -> int:
        return self._rounds.get(trial, 0)

    def news(self, node: str) -> str | None:
        """The reason of a stop of the whole search, or `LEAVES` for a node that will go; None: train on."""
        return self._stop or (LEAVES if node in self._leaving else None)


def opened() -> ActorHandle[Any]:
    """A new channel on the node of this process."""
    return actor_here(Channel)


def asked(method: Any, *arguments: Any) -> Any:
    """Call a method of the channel and wait for its answer."""
    return ray.get(method.remote(*arguments))


@contextmanager
def listening(channel: ActorHandle[Any], told: Callable[[str], None]) -> Iterator[None]:
    """Inside the context, `told` is called on another thread with the first news for this node."""
    node: str = ray.get_runtime_context().get_node_id()
    over = threading.Event()

    def poll() -> None:
        while not over.wait(EVERY_SECONDS):
            try:
                found: str | None = asked(channel.news, node)
            except Exception:  # the driver is gone, and with it the channel: Ray ends this process
                return
            if found is not None:
                told(found)
                return

    thread = threading.Thread(target=poll, name="search-news", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
