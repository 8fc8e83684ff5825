"""A worker's way to the desk: a thread carries the letters, so that no step waits for the driver."""

from __future__ import annotations

import queue
import threading
from typing import Any

import ray
from ray.actor import ActorHandle
from ray.exceptions import RayError

from trainwright_trainer.backends.ray.messages import ControlState, Kind, Message
from trainwright_trainer.backends.ray.pickled import opened, sealed

EVERY_SECONDS = 1.0
"""How often the desk is asked for the driver's wishes when there is nothing to tell."""


class RayChannel:
    """Open from its making until `close`."""

    def __init__(self, desk: ActorHandle[Any]) -> None:
        self._desk = desk
        self._letters: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._wishes = self._post([])
        self._saves_before = self._wishes.saves
        self._thread = threading.Thread(target=self._carry, name="letters", daemon=True)
        self._thread.start()

    def send(self, kind: Kind, content: Any) -> None:
        self._letters.put(Message(kind, sealed(content)))

    def ask(self, kind: Kind, content: Any) -> Any:
        answer: Any = ray.get(self._desk.ask.remote(kind, sealed(content)))
        return opened(answer)

    @property
    def stop(self) -> str | None:
        return self._wishes.stop

    @property
    def saves(self) -> int:
        return self._wishes.saves - self._saves_before

    def look_for_stop(self) -> str | None:
        return self._post([]).stop

    def ended(self) -> bool:
        return bool(ray.get(self._desk.ended.remote()))

    def close(self) -> None:
        self._letters.put(None)
        self._thread.join()

    def _carry(self) -> None:
        """Without the driver nobody listens any more, and Ray ends this process soon."""
        try:
            open_still = True
            while open_still:
                letters, open_still = self._waiting()
                self._wishes = self._post(letters)
        except RayError:
            return

    def _post(self, letters: list[Message]) -> ControlState:
        told: Any = self._desk.post  # its type knows no answer
        wishes: ControlState = ray.get(told.remote(letters))
        return wishes

    def _waiting(self) -> tuple[list[Message], bool]:
        """What there is to carry, at least once a second, and whether more may come."""
        letters: list[Message] = []
        try:
            letter = self._letters.get(timeout=EVERY_SECONDS)
            while letter is not None:
                letters.append(letter)
                letter = self._letters.get_nowait()
        except queue.Empty:
            return letters, True
        return letters, False
