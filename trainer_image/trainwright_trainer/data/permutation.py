"""A pseudo-random permutation of the numbers below a size, so that places can be drawn row by row without a sort.

A Feistel network of ten rounds permutes the numbers of an even number of bits; it is applied again while its result
is not below the size ("cycle walking"). `docs/row-order.md` defines it, and its test vectors pin it.
With fewer rounds, a chi-squared test shows that the places of a few numbers are not equally likely.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from trainwright_trainer.data.order import hashes

Numbers = npt.NDArray[np.uint64]

_ROUNDS = 10
_ROUND = np.uint64(1 << 32)
OFFSET_ROW = _ROUNDS << 32
"""The first row number that no round of a permutation hashes, for another random number under the same key."""


def permuted(keys: Numbers, sizes: Numbers, numbers: Numbers) -> Numbers:
    """uint64 [n]: the place of each of `numbers` in the permutation of [0, size) under its key. All are uint64 [n].

    A size is at most 2^52.
    """
    halves = _half_bits(sizes)
    found = _network(keys, halves, numbers)
    outside = np.flatnonzero(found >= sizes)
    while len(outside):
        found[outside] = _network(keys[outside], halves[outside], found[outside])
        outside = outside[found[outside] >= sizes[outside]]
    return found


def places(key: int, size: int, first: int, count: int) -> Numbers:
    """uint64 [count]: the places of the numbers from `first` on in the permutation of [0, size)."""
    numbers = np.arange(first, first + count, dtype=np.uint64)
    return permuted(np.full(count, key, np.uint64), np.full(count, size, np.uint64), numbers)


def _half_bits(sizes: Numbers) -> Numbers:
    """The smallest h of at least 1 with 4^h ≥ size."""
    _, bits = np.frexp((np.maximum(sizes, 1) - np.uint64(1)).astype(np.float64))
    halves: Numbers = np.maximum((bits + 1) // 2, 1).astype(np.uint64)
    return halves


def _network(keys: Numbers, halves: Numbers, numbers: Numbers) -> Numbers:
    mask = (np.uint64(1) << halves) - np.uint64(1)
    left, right = numbers >> halves, numbers & mask
    for number in range(_ROUNDS):
        left, right = right, left ^ (hashes(keys, right + np.uint64(number) * _ROUND) & mask)
    return (left << halves) | right
