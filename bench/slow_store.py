"""A server of S3 on this machine whose every request takes some milliseconds more, as in another building."""

from __future__ import annotations

import asyncio
import os
import tempfile
from asyncio import StreamReader, StreamWriter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from testkit.cluster.object_store import ObjectStore

DELAY_SECONDS = 0.015
_READ_BYTES = 1 << 16


@contextmanager
def slow_store() -> Iterator[str]:
    """Inside, the environment names the server. Yields the URI of an empty bucket."""
    with tempfile.TemporaryDirectory(prefix="trainwright-bench-") as folder, ObjectStore(Path(folder) / "s3") as store:
        (store.folder / "buckets" / "bench").mkdir()
        before = dict(os.environ)
        with _late(store.address) as address:
            os.environ.update({**store.environment, "AWS_ENDPOINT_URL": f"http://{address}"})
            try:
                yield "s3://bench"
            finally:
                os.environ.clear()
                os.environ.update(before)


@contextmanager
def _late(server: str) -> Iterator[str]:
    """The address of a proxy in front of `server`, which passes everything that a client sends on late."""
    loop = asyncio.new_event_loop()
    listening = loop.run_until_complete(asyncio.start_server(lambda *client: _connected(server, *client), "127.0.0.1"))
    thread = Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield "{}:{}".format(*listening.sockets[0].getsockname())
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.run_until_complete(_ended(listening))
        loop.close()


async def _ended(listening: asyncio.Server) -> None:
    listening.close()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


async def _connected(server: str, read: StreamReader, write: StreamWriter) -> None:
    reply, request = await asyncio.open_connection(*server.split(":"))
    await asyncio.gather(_pass_on(read, request, DELAY_SECONDS), _pass_on(reply, write, 0))


async def _pass_on(source: StreamReader, target: StreamWriter, delay: float) -> None:
    while data := await source.read(_READ_BYTES):
        await asyncio.sleep(delay)
        target.write(data)
        await target.drain()
    target.close()
