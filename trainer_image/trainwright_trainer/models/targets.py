"""The targets of an output, from a batch, in the form that its loss and its metrics take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from trainwright_trainer.loader.batch import Batch, ColumnRange, Ragged

Targets = Callable[[Batch], torch.Tensor]


def targets_of(type_: str, statistics: Mapping[str, Any], columns: ColumnRange) -> Targets:
    """The function that takes the targets of an output of this type out of a batch.

    Numbers, binaries and categories are [rows], vectors [rows, size]: views of the batch. Sets are [rows, tokens], 1
    for each token of a row, in the dtype of `floats`.
    """
    if type_ == "set":
        return lambda batch: _flags(batch.ragged[columns.start], len(statistics["vocabulary"]), batch.floats.dtype)
    taken = slice(columns.start, columns.stop) if type_ == "vector" else columns.start
    return lambda batch: (batch.floats if columns.kind == "floats" else batch.ints)[:, taken]


def _flags(sets: Ragged, tokens: int, dtype: torch.dtype) -> torch.Tensor:
    owners = torch.repeat_interleave(sets.offsets.diff(), output_size=len(sets.values))
    found = torch.zeros((len(sets), tokens), dtype=dtype, device=sets.values.device)
    return found.index_put_((owners, sets.values), found.new_ones(()))
