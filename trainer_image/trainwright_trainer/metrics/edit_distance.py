"""The Levenshtein distance between sequences of tokens."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Lengths = npt.NDArray[np.int64]


def edit_distances(
    found: npt.NDArray[Any], found_lengths: Lengths, true: npt.NDArray[Any], true_lengths: Lengths
) -> npt.NDArray[np.int64]:
    """int64 [rows]: the fewest tokens to insert, delete or replace that turn one sequence into the other.

    `found` and `true` are [rows, length]; of each row, the first tokens count, as many as its length says. One step for
    each column of `found` works on all rows.
    """
    columns = np.arange(true.shape[1] + 1)
    # The distance between the first tokens of `found` and each beginning of `true`.
    before = np.tile(columns, (len(true), 1))
    distances = true_lengths.astype(np.int64)
    for count in range(1, int(found_lengths.max(initial=0)) + 1):
        replaced = before[:, :-1] + (found[:, count - 1 : count] != true)
        now = np.concatenate([np.full((len(true), 1), count), np.minimum(replaced, before[:, 1:] + 1)], 1)
        # An insertion adds one to the distance of the column before.
        before = np.minimum.accumulate(now - columns, axis=1) + columns
        ends = np.flatnonzero(found_lengths == count)
        distances[ends] = before[ends, true_lengths[ends]]
    return distances
