"""Runs kopf beside the rest of the operator. Where an error ends it, it starts again after a pause.

kopf's own `run_tasks` is left aside: at its end it cancels every task that has begun since, also the server's.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import Callable, Collection
from typing import Any

import aiohttp
import kopf
from kopf._cogs.clients import scanning

from trainwright_operator import kopf_session
from trainwright_operator.client import Client
from trainwright_operator.handlers import REGISTRY, Memo
from trainwright_operator.kopf_settings import NoMemories
from trainwright_operator.pauses import Pauses
from trainwright_operator.settings import Settings
from trainwright_operator.world.jobs import Jobs

MISSING_SECONDS = 60.0
"""kopf looks only at its start for what the API server knows: without TrainingJobs it starts again after so long."""
TURNS = 10
SIGNALS = (signal.SIGTERM, signal.SIGINT)
_EXPECTED = (aiohttp.ClientError, TimeoutError)

Tasks = Collection[asyncio.Task[None]]

log = logging.getLogger(__name__)
# What ends kopf is told here, and what befalls its requests in `kopf_session.py`. Handlers log as "kopf.objects".
logging.getLogger("kopf._core").setLevel(logging.CRITICAL)
logging.getLogger("kopf._cogs").setLevel(logging.CRITICAL)


def give_signals_back() -> None:
    """kopf takes them at each start."""
    if threading.current_thread() is threading.main_thread():
        for number in SIGNALS:
            asyncio.get_running_loop().remove_signal_handler(number)


class Host:
    """`take_signals` is called after each start of kopf's, which takes SIGTERM and SIGINT for itself."""

    def __init__(
        self, client: Client, jobs: Jobs, settings: Settings, take_signals: Callable[[], None] = give_signals_back
    ) -> None:
        self._client, self._jobs, self._settings, self._take_signals = client, jobs, settings, take_signals
        self._pauses = Pauses(settings.retry_base, settings.retry_limit)

    async def run(self) -> None:
        """Until it is cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            started = loop.time()
            error = await self._kopf()
            if loop.time() - started >= self._settings.retry_limit:
                self._pauses.reset()
            pause = self._pauses.next()
            _log(error, pause)
            await asyncio.sleep(pause)

    async def _kopf(self) -> BaseException | None:
        """What has ended it. None: it has found no TrainingJobs to watch."""
        async with kopf_session.session(self._client, self._jobs, self._settings) as session:
            memo = Memo(self._settings, self._client.connection.configuration.host, session, self._jobs)
            spawning = asyncio.create_task(self._spawn(memo))
            try:
                return await self._ended(await asyncio.shield(spawning))
            finally:
                await _stop(await spawning)

    async def _spawn(self, memo: Memo) -> Tasks:
        tasks = await kopf.spawn_tasks(
            registry=REGISTRY,
            memories=NoMemories(),
            memo=memo,
            standalone=True,
            clusterwide=self._settings.clusterwide,
            namespaces=self._settings.namespaces,
        )
        self._take_signals()
        return tasks

    async def _ended(self, tasks: Tasks) -> BaseException | None:
        before = self._jobs.requests
        timeout = min(MISSING_SECONDS, self._settings.resync)
        done, _ = await asyncio.wait(tasks, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        if not done and self._jobs.requests > before:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return next((task.exception() for task in done if not task.cancelled()), None)


async def _stop(tasks: Tasks) -> None:
    # A scan that is cancelled leaves its requests behind.
    ended = [*tasks, *(task for task in asyncio.all_tasks() if _is_scan(task))]
    for task in ended:
        task.cancel()
    await asyncio.gather(*ended, return_exceptions=True)
    # Its streams are closed by asyncio, in tasks that begin when nothing refers to them any more.
    for _ in range(TURNS):
        await asyncio.sleep(0)


def _is_scan(task: asyncio.Task[Any]) -> bool:
    code = getattr(task.get_coro(), "cr_code", None)
    return code is not None and code.co_filename == scanning.__file__


def _log(error: BaseException | None, pause: float) -> None:
    if error is None:
        log.warning("kopf has found no TrainingJobs to watch; it starts again in %.1f s", pause)
        return
    # Its own errors tell of the API server. Any other is a bug.
    told = isinstance(error, _EXPECTED) or type(error).__module__.startswith("kopf.")
    log.log(
        logging.WARNING if told else logging.ERROR,
        "kopf has ended: %s: %s; it starts again in %.1f s",
        type(error).__name__,
        error,
        pause,
        exc_info=None if told else error,
    )
