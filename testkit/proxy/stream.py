"""Faults of a watch's events. Each fault is a stage between two queues; None ends the stream."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Sequence

from testkit.proxy.faults import (
    REASONS,
    Cut,
    Drop,
    Duplicate,
    Late,
    Reorder,
    Silence,
    StreamEnd,
    StreamError,
    WatchFault,
)

Line = bytes | None
Lines = asyncio.Queue[Line]
BROKEN = b""
"""A marker in place of a line: break the connection here."""


async def disturb(source: Lines, fault: WatchFault, draws: random.Random, target: Lines) -> None:
    match fault:
        case StreamEnd():
            await _end(source, fault, target)
        case Reorder():
            await _reorder(source, fault, draws, target)
        case _:
            await _one_by_one(source, fault, draws, target)


async def _end(source: Lines, fault: StreamEnd, target: Lines) -> None:
    left = fault.events
    while left > 0:
        line = await source.get()
        await target.put(line)
        if line is None:
            return
        left -= _is_meant(line, fault)
    match fault:
        case Silence():
            return
        case StreamError():
            await target.put(_error(fault.code))
        case Cut():
            line = await source.get() or b""
            await target.put(line[: len(line) // 2] or None)
            await target.put(BROKEN)
    await target.put(None)


async def _one_by_one(source: Lines, fault: WatchFault, draws: random.Random, target: Lines) -> None:
    async for line in _drained(source):
        meant = _is_meant(line, fault) and draws.random() < fault.chance
        if meant and isinstance(fault, Drop):
            continue
        if meant and isinstance(fault, Late):
            await asyncio.sleep(fault.seconds)
        if meant and isinstance(fault, Duplicate):
            await target.put(line)
        await target.put(line)
    await target.put(None)


async def _reorder(source: Lines, fault: Reorder, draws: random.Random, target: Lines) -> None:
    while True:
        held, ended = await _held(source, fault)
        for line in _shuffled(held, fault, draws):
            await target.put(line)
        if ended:
            await target.put(None)
            return


async def _held(source: Lines, fault: Reorder) -> tuple[list[bytes], bool]:
    """Return the next event and those that follow soon after it."""
    held: list[bytes] = []
    while len(held) < fault.window:
        try:
            line = await asyncio.wait_for(source.get(), fault.seconds if held else None)
        except TimeoutError:
            break
        if line is None:
            return held, True
        held.append(line)
    return held, False


def _shuffled(held: list[bytes], fault: Reorder, draws: random.Random) -> Sequence[bytes]:
    if fault.same_object or len(held) < 2:
        return draws.sample(held, len(held))
    # Keep the order of each object's events, at the positions that the shuffle gave to that object.
    uids = [_uid(line) for line in held]
    waiting = {uid: [line for line, of in zip(held, uids, strict=True) if of == uid] for uid in uids}
    return [waiting[uid].pop(0) for uid in draws.sample(uids, len(uids))]


async def _drained(source: Lines) -> AsyncIterator[bytes]:
    while (line := await source.get()) is not None:
        yield line


def _is_meant(line: bytes, fault: WatchFault) -> bool:
    return json.loads(line)["type"] in fault.types


def _uid(line: bytes) -> str:
    return str(json.loads(line)["object"]["metadata"].get("uid", "bookmark"))


def _error(code: int) -> bytes:
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "too old resource version: 1 (2)" if code == 410 else "as the test says",
        "reason": REASONS.get(code, ""),
        "code": code,
    }
    return json.dumps({"type": "ERROR", "object": status}).encode() + b"\n"
