"""The loaders of a data set, one for each part of its split."""

from __future__ import annotations

from collections.abc import Mapping, Sized

import torch

from trainwright_trainer.data.order import EpochOrder
from trainwright_trainer.data.prepared import SPLIT_NAMES, Prepared
from trainwright_trainer.loader.batch import Layout
from trainwright_trainer.loader.encoded_rows import EncodedRows, encoded_rows
from trainwright_trainer.loader.interface import Loader
from trainwright_trainer.loader.materialised import Materialised


def loaders(
    prepared: Prepared, layout: Layout, dtype: torch.dtype, order: EpochOrder, device: torch.device | None = None
) -> dict[str, Loader]:
    """The parts train, validation and test of `prepared`, which may be empty. `dtype` is the dtype of `floats`."""
    return {
        name: Materialised(part_rows(prepared, layout, dtype, code), order, device)
        for code, name in enumerate(SPLIT_NAMES)
    }


def part_rows(prepared: Prepared, layout: Layout, dtype: torch.dtype, code: int) -> EncodedRows:
    """The valid rows of one part, once for each of their copies."""
    return encoded_rows(prepared, layout, dtype, prepared.rows_of(code))


def sizes(parts: Mapping[str, Sized]) -> dict[str, int]:
    """The number of valid rows of each part."""
    return {name: len(part) for name, part in parts.items()}
