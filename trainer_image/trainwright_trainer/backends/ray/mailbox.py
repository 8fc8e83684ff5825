"""Where workers leave letters for the driver, and it leaves answers: an actor of Ray's on the driver's node.

It knows nothing of Ray, and holds letters only until the driver takes them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from trainwright_trainer.backends.ray.messages import ControlState, Message

PATIENCE_SECONDS = 0.5
"""How long the driver waits for letters before it looks at other things."""


class Mailbox:
    """All methods are coroutines, so that one who waits keeps nobody from it."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._come = asyncio.Event()
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._control_state = ControlState()
        self._ended = False

    async def post(self, messages: Sequence[Message]) -> ControlState:
        """Answers what the driver wishes."""
        for message in messages:
            self._put(message)
        return self._control_state

    async def ask(self, kind: Any, content: Any) -> Any:
        """Waits for what the driver answers."""
        number = len(self._answers)
        self._answers[number] = asyncio.get_running_loop().create_future()
        self._put(Message(kind, content, number))
        return await self._answers[number]

    async def ended(self) -> bool:
        """Whether a letter told the end."""
        return self._ended

    async def take(self) -> list[Message]:
        """For the driver: what has come, in its order, or nothing after a while."""
        try:
            await asyncio.wait_for(self._come.wait(), PATIENCE_SECONDS)
        except TimeoutError:
            return []
        self._come.clear()
        messages, self._messages = self._messages, []
        return messages

    async def answer(self, number: int, content: Any) -> None:
        self._answers[number].set_result(content)

    async def stop(self, reason: str) -> None:
        self._control_state = replace(self._control_state, stop=reason)

    async def save(self) -> None:
        self._control_state = replace(self._control_state, saves=self._control_state.saves + 1)

    def _put(self, message: Message) -> None:
        self._messages.append(message)
        self._ended = self._ended or message.kind == "ended"
        self._come.set()
