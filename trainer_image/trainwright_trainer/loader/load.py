"""The loaders of a data set, one for each part of its split."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from dataclasses import replace
from functools import partial

import torch

from trainwright_api.config import ModelConfig
from trainwright_api.problems import Mistakes
from trainwright_trainer.data.prepared import SPLIT_NAMES, Prepared
from trainwright_trainer.distributed.ranks import OneRank, Ranks
from trainwright_trainer.loader.batch import Layout
from trainwright_trainer.loader.device import computes_beside_the_cpu, held_on
from trainwright_trainer.loader.encoded_rows import Empty, EncodedRows, encoded_rows, in_memory
from trainwright_trainer.loader.epoch_order import EpochOrder
from trainwright_trainer.loader.images import Decoded
from trainwright_trainer.loader.interface import Loader
from trainwright_trainer.loader.materialised import Materialised
from trainwright_trainer.loader.node_copy import rows_of_node
from trainwright_trainer.loader.windowed import Windowed


def epoch_order_of(config: ModelConfig, layout: Layout, seed: int, window_rows: int | None) -> EpochOrder:
    """The order of the training rows. Raises `Mistakes` for a `bucketing_field` whose rows have one length."""
    trainer, bucketing = config.trainer, None
    if trainer.bucketing_field is not None:
        place = layout.columns[trainer.bucketing_field]
        if place.kind != "ragged":
            line = f"{trainer.bucketing_field!r} has cached embeddings, which have one length"
            raise Mistakes.one("config.trainer.bucketing_field", line)
        bucketing = place.start
    return EpochOrder(seed, trainer.should_shuffle, window_rows, bucketing)


def loaders(
    prepared: Prepared,
    layout: Layout,
    dtype: torch.dtype,
    order: EpochOrder,
    device: torch.device | None = None,
    ranks: Ranks | None = None,
) -> dict[str, Loader]:
    """The parts train, validation and test of `prepared`, which may be empty. `dtype` is the dtype of `floats`.

    All rows are in memory, unless the order has windows. The ranks of one machine share that memory; None: this process
    is alone. All ranks call this together.
    """
    there = None if layout.images else device
    codes = range(len(SPLIT_NAMES))
    if order.window_rows is not None:
        found: list[Loader] = [Windowed(prepared, code, layout, dtype, order, there) for code in codes]
    else:
        held = rows_of_node(partial(_all_rows, prepared, layout, dtype), layout, ranks or OneRank())
        beside = computes_beside_the_cpu(device)
        found = [Materialised(rows, order, there, ahead=beside) for rows in held_on(there, held)]
    return {name: decoding(part, layout, order.seed, device) for name, part in zip(SPLIT_NAMES, found, strict=True)}


def _all_rows(prepared: Prepared, layout: Layout, dtype: torch.dtype, empty: Empty) -> list[EncodedRows]:
    return [part_rows(prepared, layout, dtype, code, empty) for code in range(len(SPLIT_NAMES))]


def decoding(rows: Loader, layout: Layout, seed: int = 0, device: torch.device | None = None) -> Loader:
    """A loader that decodes the images of `rows`; `rows` itself if it has none."""
    threads = max((column.threads for column in layout.images), default=0)
    return Decoded(rows, seed, threads, device) if threads else rows


def with_windows(parts: Mapping[str, Loader], rows: int | None) -> dict[str, Loader]:
    """The same loaders with windows of `rows` source rows, if they have windows."""
    return {name: _with_windows(part, rows) for name, part in parts.items()}


def _with_windows(part: Loader, rows: int | None) -> Loader:
    if isinstance(part, Decoded):
        return replace(part, inner=_with_windows(part.inner, rows))
    return replace(part, order=replace(part.order, window_rows=rows)) if isinstance(part, Windowed) else part


def part_rows(
    prepared: Prepared, layout: Layout, dtype: torch.dtype, code: int, empty: Empty = in_memory
) -> EncodedRows:
    """The valid rows of one part, once for each of their copies."""
    return encoded_rows(prepared, layout, dtype, prepared.rows_of(code), empty=empty)


def sizes(parts: Mapping[str, Sized]) -> dict[str, int]:
    """The number of valid rows of each part."""
    return {name: len(part) for name, part in parts.items()}
