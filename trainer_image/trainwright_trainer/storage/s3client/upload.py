"""Regroup chunks of any size into the parts of a multipart upload."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

Chunk = bytes | bytearray | memoryview

PART_BYTES = 32 << 20
PARTS_AT_ONCE = 4
# S3 takes at most 10,000 parts. Parts after the first 8,000 (250 GiB) are larger, so that 430 GiB fit.
_PARTS_OF_A_SIZE = 8_000
_GROWTH = 1_000


def size_of(number: int) -> int:
    """The size of part `number` in bytes; numbers start at 1."""
    return PART_BYTES << max(0, -(-(number - _PARTS_OF_A_SIZE) // _GROWTH))


def parts(chunks: Iterable[Chunk]) -> Iterator[bytes]:
    """The joined chunks, cut into parts of `size_of`. Only the last part may be smaller; without chunks it is empty."""
    number, held = 1, bytearray()
    for chunk in chunks:
        held += chunk
        while len(held) > size_of(number):
            size = size_of(number)
            yield bytes(held[:size])
            del held[:size]
            number += 1
    yield bytes(held)
