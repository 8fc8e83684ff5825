"""Batches of rows of similar lengths, so that little of a batch is padding. `docs/row-order.md` defines them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from trainwright_trainer.data.order import Purpose, hashes, key

GROUP_BATCHES = 64
"""The global batches whose rows are sorted by length together."""
Whole = npt.NDArray[np.int64]


def bucketed(order: Whole, lengths: Whole, batch: int, seed: int, epoch: int, first: int = 0) -> Whole:
    """`order` with the rows of each group of batches sorted by length, and the whole batches of a group shuffled.

    `order`: int64 [n], a permutation of the rows that `lengths`, int64 [n], belongs to. `batch`: the rows of a global
    batch. `first`: the place in the epoch of the first of them. A batch of which they hold a part stays where it is.
    """
    batches = (first + np.arange(len(order))) // batch
    found: Whole = order[np.lexsort((lengths[order], batches // GROUP_BATCHES))]
    begin, end = -(-first // batch), (first + len(order)) // batch
    if begin >= end:
        return found
    inner = slice(begin * batch - first, end * batch - first)
    numbers = np.arange(begin, end)
    shuffled = np.lexsort((hashes(key(seed, Purpose.BUCKET, epoch), numbers), numbers // GROUP_BATCHES))
    found[inner] = found[inner].reshape(-1, batch)[shuffled].reshape(-1)
    return found
