"""The order of rows by their hashes (`data/order.py`), computed by a GPU: the same integers, and so the same order.

A GPU that trains a small model on large batches uses the rows of an epoch as fast as a core sorts them.
"""

from __future__ import annotations

from typing import TypeGuard

import numpy as np
import numpy.typing as npt
import torch

from trainwright_trainer.data.order import FIRST, GOLDEN, SECOND
from trainwright_trainer.loader.batch import copied
from trainwright_trainer.loader.gpu import has_room, is_gpu, stream_of_orders

_BYTES_PER_ROW = 64  # the row, its hash, its position, and as much again for the sort
_LEAST = -(1 << 63)


def can_sort(device: torch.device | None, rows: int) -> TypeGuard[torch.device]:
    """True for a GPU with enough free memory."""
    return is_gpu(device) and has_room(device, rows * _BYTES_PER_ROW)


def sorted_by_hash(of_key: int, rows: npt.NDArray[np.int64], device: torch.device) -> npt.NDArray[np.int64]:
    """int64 [n]: the positions of the rows in ascending order of their hashes. It does not wait for queued steps."""
    found = torch.empty(len(rows), dtype=torch.int64, pin_memory=True)
    with torch.cuda.stream(stream_of_orders(device)):
        found.copy_(positions_by_hash(of_key, copied(torch.from_numpy(rows), device)), non_blocking=True)
        arrived = torch.cuda.current_stream(device).record_event()
    arrived.synchronize()
    return np.array(found)  # torch cannot know until when copies read a part of pinned memory that numpy holds


def positions_by_hash(of_key: int, rows: torch.Tensor) -> torch.Tensor:
    """int64 [n]: the positions of `rows`, int64 [n], in ascending order of their hashes as unsigned numbers."""
    value = (rows + 1) * _signed(GOLDEN) + _signed(of_key)
    value = (value ^ _shifted(value, 30)) * _signed(FIRST)
    value = (value ^ _shifted(value, 27)) * _signed(SECOND)
    return torch.argsort(value ^ _shifted(value, 31) ^ _LEAST, stable=True)


def _shifted(value: torch.Tensor, bits: int) -> torch.Tensor:
    """The bits of a number moved to the right, with zeros before them: torch repeats the sign."""
    return (value >> bits) & ((1 << (64 - bits)) - 1)


def _signed(value: int) -> int:
    """The int64 with the bits of an unsigned number."""
    return value - (1 << 64) if value >> 63 else value
