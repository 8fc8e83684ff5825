"""The targets of an output, from a batch, in the form that its loss and its metrics take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.nn.functional as F

from trainwright_api.config.features import OutputFeature
from trainwright_trainer.loader.batch import Batch, ColumnRange, Ragged, padded

SEQUENCES = ("sequence", "text")
"""The output types whose logits have a dimension for steps."""
NO_TOKEN = -1
Targets = Callable[[Batch], torch.Tensor]


def targets_of(feature: OutputFeature, statistics: Mapping[str, Any], columns: ColumnRange) -> Targets:
    """The function that takes the targets of an output out of a batch.

    Numbers, binaries and categories are [rows], vectors [rows, size]: views of the batch. Sets are [rows, tokens], 1
    for each token of a row, in the dtype of `floats`. Sequences are int64 [rows, length], `NO_TOKEN` behind the tokens
    of a row. The target of a generator ends with the token behind the last one of the vocabulary.
    """
    if feature.type == "set":
        return lambda batch: _flags(batch.ragged[columns.start], len(statistics["vocabulary"]), batch.floats.dtype)
    if feature.type in SEQUENCES:
        end = len(statistics["vocabulary"]) if feature.decoder.type == "generator" else None
        return lambda batch: _tokens(batch.ragged[columns.start], end)
    if feature.type == "vector":
        return lambda batch: batch.floats[:, columns.start : columns.stop]
    return lambda batch: (batch.floats if columns.kind == "floats" else batch.ints).select(1, columns.start)


def tokens_in(feature: OutputFeature, columns: ColumnRange, batch: Batch) -> int:
    """The number of tokens in the targets of a sequence, known without waiting for the device."""
    sequences = batch.ragged[columns.start]
    return int(sequences.bounds[-1]) + (len(sequences) if feature.decoder.type == "generator" else 0)


def _flags(sets: Ragged, tokens: int, dtype: torch.dtype) -> torch.Tensor:
    owners = torch.repeat_interleave(sets.offsets.diff(), output_size=len(sets.values))
    found = torch.zeros((len(sets), tokens), dtype=dtype, device=sets.values.device)
    return found.index_put_((owners, sets.values), found.new_ones(()))


def _tokens(sequences: Ragged, end: int | None) -> torch.Tensor:
    if end is None:
        return padded(sequences, other=NO_TOKEN)[0]
    tokens, lengths = padded(sequences, 0, NO_TOKEN)
    return F.pad(tokens, (0, 1), value=NO_TOKEN).scatter(1, lengths.unsqueeze(1), end)
