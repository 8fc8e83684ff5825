"""Passes calls from kopf's thread to the operator's event loop. Calls keep their order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from trainwright_operator.informer.jobs import Jobs
from trainwright_operator.informer.store import Key
from trainwright_operator.model.observed import Manifest
from trainwright_operator.settings import Place


class Relay:
    """Calls the methods of `jobs` in `loop`, the operator's event loop."""

    def __init__(self, jobs: Jobs, loop: asyncio.AbstractEventLoop) -> None:
        self._jobs, self._loop = jobs, loop
        self.places = tuple(jobs.places)

    def on_event(self, kind: str | None, raw: Manifest) -> None:
        self._call(self._jobs.on_event, kind, raw)

    def seen(self, place: Place) -> None:
        self._call(self._jobs.seen, place)

    async def listed(self, place: Place, names: Sequence[Key], version: int, *, first: bool, last: bool) -> None:
        """Return after all earlier calls have run, so that kopf reads no faster than the operator processes."""

        async def take() -> None:
            self._jobs.listed(place, names, version, first=first, last=last)

        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(take(), self._loop))

    def _call(self, method: Callable[..., None], *args: Any) -> None:
        # The loop is closed if the operator has ended.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(method, *args)
