"""The mailbox between the workers and the driver: a Ray actor on the driver's node, with messages and replies.

This module does not import Ray. The mailbox holds messages only until the driver takes them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from trainwright_trainer.backends.ray.messages import ControlState, Message

POLL_TIMEOUT_SECONDS = 0.5
"""The time that the driver waits for messages before it does other work."""
_SECONDS_TO_START = 30.0


class Mailbox:
    """All methods are coroutines, so that a waiting caller does not block others."""

    def __init__(self, decides: bool = False) -> None:
        self._messages: list[Message] = []
        self._come = asyncio.Event()
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._control_state = ControlState(decides=decides)
        self._ended = False
        self._controller: Any = None
        self._controller_known = asyncio.Event()

    async def post(self, messages: Sequence[Message]) -> ControlState:
        """Store the messages. Returns the control state."""
        for message in messages:
            self._put(message)
        return self._control_state

    async def ask(self, kind: Any, content: Any) -> Any:
        """Store a message and wait for the driver's reply."""
        number = len(self._answers)
        self._answers[number] = asyncio.get_running_loop().create_future()
        self._put(Message(kind, content, number))
        return await self._answers[number]

    async def ended(self) -> bool:
        """True if a message has reported an end."""
        return self._ended

    async def take(self) -> list[Message]:
        """For the driver: the messages in order of arrival, or none after `POLL_TIMEOUT_SECONDS`."""
        try:
            await asyncio.wait_for(self._come.wait(), POLL_TIMEOUT_SECONDS)
        except TimeoutError:
            return []
        self._come.clear()
        messages, self._messages = self._messages, []
        return messages

    async def answer(self, number: int, content: Any) -> None:
        self._answers[number].set_result(content)

    async def controller_started(self, handle: Any) -> None:
        """Store the actor of Ray Train that starts the workers."""
        self._controller = handle
        self._controller_known.set()

    async def controller(self) -> Any:
        """The handle of that actor. Waits until it has started, and returns None if that takes too long."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._controller_known.wait(), _SECONDS_TO_START)
        return self._controller

    async def stop(self, reason: str) -> None:
        self._control_state = replace(self._control_state, stop=reason)

    async def save(self) -> None:
        self._control_state = replace(self._control_state, saves=self._control_state.saves + 1)

    def _put(self, message: Message) -> None:
        self._messages.append(message)
        self._ended = self._ended or message.kind == "ended"
        self._come.set()
