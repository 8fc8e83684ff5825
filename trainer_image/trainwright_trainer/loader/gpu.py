"""What the loaders ask of a GPU: whether a device is one, its room for rows, and streams beside that of the steps."""

from __future__ import annotations

from functools import cache
from typing import TypeGuard

import torch

SHARE = 0.25
"""The most of a GPU's free memory that rows, or the order of an epoch, take. The model, its optimizer and the
activations need the rest."""


def is_gpu(device: torch.device | None) -> TypeGuard[torch.device]:
    return device is not None and device.type == "cuda"


def has_room(device: torch.device, size: int) -> bool:
    """True if so many bytes are a part of the GPU's free memory that rows may take."""
    return size <= SHARE * torch.cuda.mem_get_info(device)[0]


# One stream for each, because torch keeps freed memory for the stream that used it: those of further streams would each
# have memory of their own.
@cache
def stream_of_copies(device: torch.device) -> torch.cuda.Stream:
    return torch.cuda.Stream(device)  # type: ignore[no-untyped-call]


@cache
def stream_of_orders(device: torch.device) -> torch.cuda.Stream:
    return torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
