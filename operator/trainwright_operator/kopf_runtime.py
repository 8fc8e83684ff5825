"""Runs kopf beside the rest of the operator, and restarts it after a pause if it ends with an error.

kopf has its own thread and event loop. When kopf ends, it cancels every task that started after it, sometimes loses a
cancellation, and leaves streams open. The separate loop protects the server, the Lease and the informers from that.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Collection
from contextlib import suppress
from typing import Any

import aiohttp
import kopf

from trainwright_operator.handlers import REGISTRY, Memo
from trainwright_operator.informer.jobs import Jobs
from trainwright_operator.kopf_adapter import session
from trainwright_operator.kopf_adapter.relay import Relay
from trainwright_operator.kopf_adapter.settings import NoMemories, Pauses
from trainwright_operator.kube.client import Client
from trainwright_operator.settings import Settings

MISSING_SECONDS = 60.0
"""kopf discovers the API server's resources only at its start. If TrainingJobs are missing, it restarts after this."""
STOP_SECONDS = 1.0
"""The seconds in which cancelled tasks have to end."""
CLEARING_ROUNDS = 10
_EXPECTED = (aiohttp.ClientError, TimeoutError)

Tasks = Collection[asyncio.Task[Any]]

log = logging.getLogger(__name__)
# This module logs the end of kopf, `kopf_adapter/session.py` its failed requests. Handlers log as "kopf.objects".
logging.getLogger("kopf._core").setLevel(logging.CRITICAL)
logging.getLogger("kopf._cogs").setLevel(logging.CRITICAL)


class Host:
    def __init__(self, client: Client, jobs: Jobs, settings: Settings) -> None:
        self._client, self._jobs, self._settings = client, jobs, settings
        self._pauses = Pauses(settings.retry_base, settings.retry_limit)
        self._start_timeouts = Pauses(min(MISSING_SECONDS, settings.resync), MISSING_SECONDS)

    async def run(self) -> None:
        """Run until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            started = loop.time()
            error = await self._kopf(loop)
            if loop.time() - started >= self._settings.retry_limit:
                self._pauses.reset()
            pause = self._pauses.next()
            _log(error, pause)
            await asyncio.sleep(pause)

    async def _kopf(self, loop: asyncio.AbstractEventLoop) -> BaseException | None:
        """Run kopf once. Return the error that ended it, or None if it found no TrainingJobs to watch."""
        thread = KopfThread(self._client, Relay(self._jobs, loop), self._settings, self._start_timeouts.next())
        ended = loop.create_future()
        thread.start(lambda error: _report_end(loop, ended, error))
        try:
            return await asyncio.shield(ended)
        finally:
            thread.stop()
            await asyncio.wait([ended], timeout=2 * STOP_SECONDS)


class KopfThread:
    """One run of kopf. kopf has to request TrainingJobs within `start_timeout` seconds."""

    def __init__(self, client: Client, relay: Relay, settings: Settings, start_timeout: float) -> None:
        self._client, self._relay, self._settings, self._start_timeout = client, relay, settings, start_timeout
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(_leftover)
        self._stopping = asyncio.Event()

    def start(self, on_end: Any) -> None:
        threading.Thread(target=self._run, args=(on_end,), name="kopf", daemon=True).start()

    def stop(self) -> None:
        with suppress(RuntimeError):  # The loop is closed if kopf has ended by itself.
            self._loop.call_soon_threadsafe(self._stopping.set)

    def _run(self, on_end: Any) -> None:
        error: BaseException | None
        try:
            error = self._loop.run_until_complete(self._kopf())
        except Exception as raised:
            error = raised
        with suppress(Exception):
            self._loop.run_until_complete(_clear(self._loop))
        self._loop.close()
        on_end(error)

    async def _kopf(self) -> BaseException | None:
        async with session.session(self._client, self._relay, self._settings) as watching:
            host = self._client.connection.configuration.host
            tasks = await kopf.spawn_tasks(
                registry=REGISTRY,
                memories=NoMemories(),
                memo=Memo(self._settings, host, watching.session, self._relay),
                standalone=True,
                clusterwide=self._settings.clusterwide,
                namespaces=self._settings.namespaces,
            )
            everything = [*tasks, asyncio.create_task(self._stopping.wait())]
            try:
                return await self._ended(everything, watching)
            finally:
                for task in everything:
                    task.cancel()
                await asyncio.wait(everything, timeout=STOP_SECONDS)

    async def _ended(self, tasks: Tasks, watching: session.WatchSession) -> BaseException | None:
        done, _ = await asyncio.wait(tasks, timeout=self._start_timeout, return_when=asyncio.FIRST_COMPLETED)
        if not done and watching.asked:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return next((task.exception() for task in done if not task.cancelled()), None)


async def _clear(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel the remaining tasks again, because kopf can lose a cancellation."""
    for _ in range(CLEARING_ROUNDS):
        left = asyncio.all_tasks() - {asyncio.current_task()}
        if not left:
            break
        for task in left:
            task.cancel()
        await asyncio.wait(left, timeout=STOP_SECONDS)
    await asyncio.wait_for(loop.shutdown_asyncgens(), STOP_SECONDS)


def _report_end(loop: asyncio.AbstractEventLoop, ended: asyncio.Future[Any], error: BaseException | None) -> None:
    with suppress(RuntimeError):  # The loop is closed if the operator has ended.
        loop.call_soon_threadsafe(ended.set_result, error)


def _leftover(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    log.debug("kopf has left something behind: %s", context.get("message"))


def _log(error: BaseException | None, pause: float) -> None:
    if error is None:
        log.warning("kopf has found no TrainingJobs to watch; it starts again in %.1f s", pause)
        return
    # kopf's own exceptions report errors of the API server. Any other exception is a bug.
    expected = isinstance(error, _EXPECTED) or type(error).__module__.startswith("kopf.")
    log.log(
        logging.WARNING if expected else logging.ERROR,
        "kopf has ended: %s: %s; it starts again in %.1f s",
        type(error).__name__,
        error,
        pause,
        exc_info=None if expected else error,
    )
