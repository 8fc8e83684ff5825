"""A worker's channel to the mailbox. A thread sends the messages, so that no step waits for the driver."""

from __future__ import annotations

import queue
import threading
from typing import Any

import ray
from ray.actor import ActorHandle
from ray.exceptions import RayError

from trainwright_trainer.backends.ray.messages import ControlState, Kind, Message, pickled, unpickled

EVERY_SECONDS = 1.0
"""The interval at which the control state is polled when there is no message to send."""


class RayChannel:
    """Open from construction until `close`."""

    def __init__(self, mailbox: ActorHandle[Any]) -> None:
        self._mailbox = mailbox
        self._messages: queue.SimpleQueue[Message | threading.Event | None] = queue.SimpleQueue()
        self._control_state = self._post([])
        self._saves_before = self._control_state.saves
        self._thread = threading.Thread(target=self._carry, name="messages", daemon=True)
        self._thread.start()

    def send(self, kind: Kind, content: Any) -> None:
        self._messages.put(Message(kind, pickled(content)))

    def ask(self, kind: Kind, content: Any) -> Any:
        answer: Any = ray.get(self._mailbox.ask.remote(kind, pickled(content)))
        return unpickled(answer)

    @property
    def stop(self) -> str | None:
        return self._control_state.stop

    @property
    def saves(self) -> int:
        return self._control_state.saves - self._saves_before

    def settle(self) -> None:
        if not self._control_state.decides:
            return
        posted = threading.Event()
        self._messages.put(posted)
        while not posted.wait(EVERY_SECONDS) and self._thread.is_alive():
            pass
        self.ask("settle", None)
        self._control_state = self._post([])

    def look_for_stop(self) -> str | None:
        return self._post([]).stop

    def ended(self) -> bool:
        return bool(ray.get(self._mailbox.ended.remote()))

    def close(self) -> None:
        self._messages.put(None)
        self._thread.join()

    def _carry(self) -> None:
        """Send messages until `close`. On a `RayError` the driver is gone, and Ray ends this process soon."""
        try:
            open_still = True
            while open_still:
                messages, posted, open_still = self._waiting()
                self._control_state = self._post(messages)
                if posted is not None:
                    posted.set()
        except RayError:
            return

    def _post(self, messages: list[Message]) -> ControlState:
        post: Any = self._mailbox.post  # its type has no return value
        control_state: ControlState = ray.get(post.remote(messages))
        return control_state

    def _waiting(self) -> tuple[list[Message], threading.Event | None, bool]:
        """The messages to send, after at most one second, who waits for them, and True if more may come."""
        messages: list[Message] = []
        try:
            message = self._messages.get(timeout=EVERY_SECONDS)
            while message is not None:
                if isinstance(message, threading.Event):
                    return messages, message, True
                messages.append(message)
                message = self._messages.get_nowait()
        except queue.Empty:
            return messages, None, True
        return messages, None, False
