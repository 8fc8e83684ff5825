"""The size of a window, from the section `backend.loader`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from trainwright_api.resource.backend import Loader as LoaderSection
from trainwright_trainer.data.columnfile import GROUP_ROWS
from trainwright_trainer.loader.batch import Layout

_SHARE = 8
"""A window takes this part of the memory. Two are in memory, beside the libraries, the model and the optimizer."""


def window_rows(section: LoaderSection, row_bytes: float, memory_bytes: int) -> int | None:
    """The source rows of a window; None: all rows are in memory, in one window.

    Without `window_size_bytes`, `fully_executed: false` takes a part of `memory_bytes`. A large window holds whole row
    groups of the cache.
    """
    if section.fully_executed and section.window_size_bytes is None:
        return None
    rows = max(1, int((section.window_size_bytes or memory_bytes // _SHARE) / row_bytes))
    return rows if rows < GROUP_ROWS else rows // GROUP_ROWS * GROUP_ROWS


def row_bytes(layout: Layout, dtype: torch.dtype, statistics: Mapping[str, Mapping[str, Any]]) -> float:
    """The mean bytes of a row in memory: its columns, and its number."""
    item_bytes = {"ragged": 4, "images": 1}
    varying = {name: item_bytes[one.kind] for name, one in layout.columns.items() if one.kind in item_bytes}
    items = sum(size * float(statistics[name]["length"]) for name, size in varying.items())
    return 8 + layout.float_width * dtype.itemsize + 8 * layout.int_width + 8 * len(varying) + items
