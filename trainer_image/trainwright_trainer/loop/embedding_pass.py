"""The vectors of an encoder that is not trained, for all rows of a column. Every rank encodes a share of the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import torch

from trainwright_trainer.data.columnfile import GROUP_ROWS
from trainwright_trainer.data.prepared import Prepared
from trainwright_trainer.distributed.ranks import Ranks
from trainwright_trainer.loader.batch import Batch, ColumnRange, Layout, Ragged
from trainwright_trainer.loader.by_length import passes
from trainwright_trainer.loader.device import copied_ahead
from trainwright_trainer.loader.encoded_rows import EncodedRows, encoded_rows
from trainwright_trainer.loader.images import decoded_ahead
from trainwright_trainer.models.frozen import FrozenEncoders

CHUNK_ROWS = 2_048
CHUNK_NUMBERS = 1 << 24
"""The most numbers of the rows that are encoded before they are written."""
PASS_ROWS = 256
PASS_PIXELS = 1 << 23
"""The most numbers in the images of a pass."""


def embedding_blocks(data: Prepared, encoders: FrozenEncoders, position: int, ranks: Ranks) -> Iterator[pa.Array]:
    """The embeddings of one input: fixed-size lists, null where the column is null, block by block, on every rank."""
    name, width = encoders.features[position].name, encoders.width(position)
    layout = _layout_of_one(name, encoders.layout)
    work = EmbeddingPass(partial(encoders.vectors, position), layout.columns[name], width, ranks)
    # Encoded images are large, so no more of them are in memory than a chunk has.
    chunk = max(1, min(CHUNK_ROWS, CHUNK_NUMBERS // width))
    group = chunk if layout.images else GROUP_ROWS
    for first in range(0, data.rows, group):
        valid = data.part(name, first, first + group).is_valid().to_numpy()
        rows = np.flatnonzero(valid) + first
        held = encoded_rows(data, layout, encoders.dtype, rows)
        for start in range(0, len(valid), chunk):
            low, high = np.searchsorted(rows, (first + start, first + start + chunk))
            yield _block(work.vectors(held, int(low), int(high)), valid[start : start + chunk])


def _layout_of_one(name: str, whole: Layout) -> Layout:
    """The layout of batches that have only this input."""
    place = whole.columns[name]
    own = ColumnRange(place.kind, 0, place.stop - place.start)
    widths = {kind: own.stop if own.kind == kind else 0 for kind in ("floats", "ints")}
    images = whole.images[place.start : place.stop] if place.kind == "images" else ()
    return Layout({name: own}, widths["floats"], widths["ints"], images)


def _block(vectors: torch.Tensor, valid: npt.NDArray[np.bool_]) -> pa.FixedSizeListArray:
    """The vectors of the valid rows, in their order, and null for the others."""
    width = vectors.shape[1]
    if valid.all():
        return pa.FixedSizeListArray.from_arrays(pa.array(vectors.flatten().numpy()), width)
    whole = vectors.new_zeros((len(valid), width))
    whole[torch.from_numpy(valid)] = vectors
    return pa.FixedSizeListArray.from_arrays(pa.array(whole.flatten().numpy()), width, mask=pa.array(~valid))


@dataclass(frozen=True)
class EmbeddingPass:
    """`encode`: the columns of some rows → their vectors [rows, width].

    The rows of a pass have similar lengths. They depend on neither the rank nor the number of ranks, so the vectors are
    the same, bit for bit, for any number of them.
    """

    encode: Callable[[torch.Tensor | Ragged], torch.Tensor]
    columns: ColumnRange
    width: int
    ranks: Ranks

    @torch.no_grad()
    def vectors(self, held: EncodedRows, start: int, stop: int) -> torch.Tensor:
        """[stop - start, width]: the vectors of these rows of `held`, on the CPU of every rank."""
        ranks = self.ranks
        found = torch.zeros((stop - start, self.width), dtype=held.floats.dtype, device=ranks.device)
        each = enumerate(passes(lengths_of(held, start, stop), _most_rows(held)))
        own = [places for number, places in each if number % ranks.world == ranks.rank]
        for places, batch in zip(own, self._batches(held, [start + places for places in own]), strict=True):
            found[torch.from_numpy(places).to(ranks.device)] = self.encode(batch.of(self.columns))
        return ranks.sum(found).cpu()

    def _batches(self, held: EncodedRows, positions: Sequence[npt.NDArray[np.int64]]) -> Iterator[Batch]:
        """The rows at each of `positions`, on the device, with decoded images."""
        batches, device = (held.take(each) for each in positions), self.ranks.device
        if held.images:
            return decoded_ahead(batches, held.images[0].column.threads, device)
        return copied_ahead(batches, device)


def _most_rows(held: EncodedRows) -> int:
    """The most rows of a pass: fewer of large images."""
    shapes = [images.column.shape for images in held.images]
    numbers = sum(shape.channels * shape.height * shape.width for shape in shapes)
    return max(1, min(PASS_ROWS, PASS_PIXELS // max(1, numbers)))


def lengths_of(held: EncodedRows, start: int, stop: int) -> npt.NDArray[np.int64]:
    """int64 [rows]: the steps of each row of the one column of `held`; 1 for a dense column."""
    if not held.ragged:
        return np.ones(stop - start, np.int64)
    return np.asarray(pc.list_value_length(held.ragged[0][start:stop]), np.int64)
