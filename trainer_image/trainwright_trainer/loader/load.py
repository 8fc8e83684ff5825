"""The loaders of a data set, one for each part of its split."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from dataclasses import replace

import torch

from trainwright_trainer.data.prepared import SPLIT_NAMES, Prepared
from trainwright_trainer.loader.batch import Layout
from trainwright_trainer.loader.encoded_rows import EncodedRows, encoded_rows
from trainwright_trainer.loader.epoch_order import EpochOrder
from trainwright_trainer.loader.interface import Loader
from trainwright_trainer.loader.materialised import Materialised
from trainwright_trainer.loader.windowed import Windowed


def loaders(
    prepared: Prepared, layout: Layout, dtype: torch.dtype, order: EpochOrder, device: torch.device | None = None
) -> dict[str, Loader]:
    """The parts train, validation and test of `prepared`, which may be empty. `dtype` is the dtype of `floats`.

    All rows are in memory, unless the order has windows.
    """
    if order.window_rows is not None:
        return {name: Windowed(prepared, code, layout, dtype, order, device) for code, name in enumerate(SPLIT_NAMES)}
    return {
        name: Materialised(part_rows(prepared, layout, dtype, code), order, device)
        for code, name in enumerate(SPLIT_NAMES)
    }


def with_windows(parts: Mapping[str, Loader], rows: int | None) -> dict[str, Loader]:
    """The same loaders with windows of `rows` source rows, if they have windows."""
    return {
        name: replace(part, order=replace(part.order, window_rows=rows)) if isinstance(part, Windowed) else part
        for name, part in parts.items()
    }


def part_rows(prepared: Prepared, layout: Layout, dtype: torch.dtype, code: int) -> EncodedRows:
    """The valid rows of one part, once for each of their copies."""
    return encoded_rows(prepared, layout, dtype, prepared.rows_of(code))


def sizes(parts: Mapping[str, Sized]) -> dict[str, int]:
    """The number of valid rows of each part."""
    return {name: len(part) for name, part in parts.items()}
