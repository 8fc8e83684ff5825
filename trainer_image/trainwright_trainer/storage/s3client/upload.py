"""Chunks of any size to parts of one size: what an upload in parts is made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

Chunk = bytes | bytearray | memoryview

PART_BYTES = 32 << 20
PARTS_AT_ONCE = 4
# S3 takes 10,000 parts. Those past the first 8,000 (250 GiB) grow, so that 430 GiB fit.
_PARTS_OF_A_SIZE = 8_000
_GROWTH = 1_000


def size_of(number: int) -> int:
    """The bytes of part `number`, from 1."""
    return PART_BYTES << max(0, -(-(number - _PARTS_OF_A_SIZE) // _GROWTH))


def parts(chunks: Iterable[Chunk]) -> Iterator[bytes]:
    """At least one, which is empty for no chunks; none but the last is smaller than its size."""
    number, held = 1, bytearray()
    for chunk in chunks:
        held += chunk
        while len(held) > size_of(number):
            size = size_of(number)
            yield bytes(held[:size])
            del held[:size]
            number += 1
    yield bytes(held)
