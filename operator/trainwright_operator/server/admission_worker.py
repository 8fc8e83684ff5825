"""Validates AdmissionReviews in one process of its own, with limits of size, time and memory.

A user can write a job whose validation takes long. In the process of the leader it would delay the renewal of the
Lease; here it ends with the process that validates it, and the next review gets a new process. A frame between the two
processes is its length in 4 bytes, and its bytes. The first one of the validating process is empty: it is ready.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import resource
import signal
import struct
import sys
from contextlib import suppress
from dataclasses import asdict
from typing import Any, BinaryIO, Self

from trainwright_operator.job_defaults import JobDefaults
from trainwright_operator.policy import Policy
from trainwright_operator.server.admission import Answer, Busy, answer, prepare
from trainwright_operator.settings import Settings

SECONDS = 4.0
"""The time limit of a review, including its wait for the reviews before it. The webhook's own timeout is 5 s."""
WAITING = 32
"""The maximum of reviews that wait or are validated. Further ones are refused as busy."""
MEMORY_BYTES = 256 * 2**20
"""The maximum of memory of the process."""
_LENGTH = struct.Struct(">I")

log = logging.getLogger(__name__)


class AdmissionWorker:
    """The parent's side. `async with` starts the process and ends it."""

    def __init__(self, settings: Settings, *, seconds: float = SECONDS) -> None:
        rules = {
            "image": settings.image,
            "cpu_image": settings.cpu_image,
            "policy": asdict(settings.policy),
            # Of the defaults for jobs, answers depend on these alone.
            "pod_template": dict(settings.jobs.pod_template),
            "ttl_seconds_after_finished": settings.jobs.ttl_seconds_after_finished,
        }
        self._rules = json.dumps(rules).encode()
        self._seconds = seconds
        self._turn = asyncio.Lock()
        self._waiting = 0
        self._process: asyncio.subprocess.Process | None = None
        self._ready: asyncio.Task[bytes] | None = None
        """Ends when the process has imported what it needs. It belongs to no review, so none ends it."""

    async def __aenter__(self) -> Self:
        async with self._turn:
            await self._started()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._end()

    async def answer(self, review: bytes) -> Answer:
        """Return the answer to the body of a request. Raises Busy."""
        if self._waiting >= WAITING:
            raise Busy("too many jobs are being validated: try again")
        self._waiting += 1
        try:
            async with asyncio.timeout(self._seconds), self._turn:
                return await self._asked(review)
        except TimeoutError:
            raise Busy(f"the validation took longer than {self._seconds:g} s") from None
        except (asyncio.IncompleteReadError, ConnectionError, OSError):
            raise Busy("the validation needed too much memory, or its process was ended") from None
        finally:
            self._waiting -= 1

    async def _asked(self, review: bytes) -> Answer:
        """Send the review and read the answer. A process that was interrupted is ended: its answer would be late."""
        process = await self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        assert self._ready is not None
        await asyncio.shield(self._ready)
        complete = False
        try:
            process.stdin.write(_LENGTH.pack(len(review)) + review)
            await process.stdin.drain()
            (length,) = _LENGTH.unpack(await process.stdout.readexactly(_LENGTH.size))
            found = json.loads(await process.stdout.readexactly(length))
            complete = True
            return Answer(**found)
        finally:
            if not complete:
                log.warning("the process that validates jobs is started again")
                await self._end()

    async def _started(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            words = (sys.executable, "-m", __name__)
            pipe = asyncio.subprocess.PIPE
            self._process = await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe)
            assert self._process.stdin is not None
            self._process.stdin.write(_LENGTH.pack(len(self._rules)) + self._rules)
            assert self._process.stdout is not None
            self._ready = asyncio.create_task(self._process.stdout.readexactly(_LENGTH.size))
        return self._process

    async def _end(self) -> None:
        process, self._process = self._process, None
        if self._ready is not None:
            self._ready.cancel()
        if process is not None:
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)  # process.kill would reap it before asyncio does
            await process.wait()


def main(source: BinaryIO, target: BinaryIO) -> None:
    """The child's side: read the rules, then answer reviews until the parent closes the pipe."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
    if (sent := _frame(source)) is None:
        return
    rules = json.loads(sent)
    given: dict[str, Any] = rules["policy"]
    policy = Policy(**{key: _value(value) for key, value in given.items()})
    jobs = JobDefaults(rules["pod_template"], rules["ttl_seconds_after_finished"])
    settings = Settings(image=rules["image"], cpu_image=rules["cpu_image"], policy=policy, jobs=jobs)
    prepare()
    _send(target, b"")  # it is ready
    while (review := _frame(source)) is not None:
        found = json.dumps(asdict(answer(review, settings))).encode()
        _send(target, found)


def _send(target: BinaryIO, frame: bytes) -> None:
    target.write(_LENGTH.pack(len(frame)) + frame)
    target.flush()


def _value(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _frame(source: BinaryIO) -> bytes | None:
    head = source.read(_LENGTH.size)
    return source.read(_LENGTH.unpack(head)[0]) if len(head) == _LENGTH.size else None


def _run() -> None:
    # What a library prints must not end up between the frames.
    target: Any = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        main(sys.stdin.buffer, target)
    except BrokenPipeError:  # The parent has ended. A usual exit flushes the pipe again, and prints a traceback.
        os._exit(0)


if __name__ == "__main__":
    _run()
