"""Sequences of different lengths in one tensor, and windows that move over them.

Steps beyond the length of a row are zero, and no step that counts depends on them. So the output for a row depends
neither on the padding nor on the other rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F


class Steps(NamedTuple):
    """`values`: [rows, length, width]. `lengths`: int64 [rows], the number of steps that count, which come first."""

    values: torch.Tensor
    lengths: torch.Tensor

    @property
    def mask(self) -> torch.Tensor:
        """bool [rows, length]: True for each step that counts."""
        return mask_of(self.lengths, self.values.shape[1])

    def of_length(self, length: int) -> Steps:
        """The first `length` steps. Further ones are zero, and do not count."""
        values = F.pad(self.values[:, :length], (0, 0, 0, max(0, length - self.values.shape[1])))
        return Steps(values, self.lengths.clamp(max=length))

    def with_values(self, values: torch.Tensor) -> Steps:
        """Other values for the same steps. Those that do not count become zero."""
        return Steps(values.masked_fill(~self.mask.unsqueeze(2), 0.0), self.lengths)


def mask_of(lengths: torch.Tensor, length: int) -> torch.Tensor:
    """bool [rows, length]: True for the first `lengths[i]` steps of row i."""
    return torch.arange(length, device=lengths.device) < lengths.unsqueeze(1)


@dataclass(frozen=True)
class Window:
    """The window of a convolution or of a pooling. `padding`: same (as many steps as strides fit) or valid (whole
    windows only)."""

    size: int
    stride: int
    dilation: int
    padding: str

    @property
    def span(self) -> int:
        """The number of steps from the first to the last one of a window."""
        return self.dilation * (self.size - 1) + 1

    def steps(self, lengths: torch.Tensor) -> torch.Tensor:
        """The number of windows over sequences of these lengths: int64 of the same shape."""
        if self.padding == "same":
            return (lengths + self.stride - 1) // self.stride
        return ((lengths - self.span) // self.stride + 1).clamp(min=0)

    def fitted(self, values: torch.Tensor, other: float = 0.0) -> torch.Tensor:
        """[rows, width, length] → [rows, width, length′], padded with `other`, so that all windows fit in, and one at
        least. The first window begins at the same distance from the first step, whatever the length."""
        length = values.shape[2]
        windows = max(int(self.steps(torch.tensor(length, device="cpu"))), 1)
        before = (self.span - 1) // 2 if self.padding == "same" else 0
        after = (windows - 1) * self.stride + self.span - before - length
        return F.pad(values, (before, after), value=other)


def pooled(steps: Steps, window: Window, function: str) -> Steps:
    """The largest value, or the mean (average, avg, mean), of the steps of each window that count."""
    columns, mask = steps.values.transpose(1, 2), steps.mask.unsqueeze(1)
    if function == "max":
        lowest = torch.finfo(columns.dtype).min
        fitted = window.fitted(columns.masked_fill(~mask, lowest), lowest)
        found = F.max_pool1d(fitted, window.size, window.stride)
    else:
        count = F.avg_pool1d(window.fitted(mask.to(columns.dtype)), window.size, window.stride)
        found = F.avg_pool1d(window.fitted(columns), window.size, window.stride) / count.clamp(min=1 / window.size)
    values = found.transpose(1, 2)
    return Steps(values, window.steps(steps.lengths)).with_values(values)


def at_the_end(steps: Steps) -> tuple[torch.Tensor, torch.Tensor]:
    """The values and the mask of the same sequences, with the steps that count last: padding on the left."""
    length = steps.values.shape[1]
    places = torch.arange(length, device=steps.lengths.device) - (length - steps.lengths).unsqueeze(1)
    moved = steps.values.gather(1, places.clamp(min=0).unsqueeze(2).expand_as(steps.values))
    return moved.masked_fill((places < 0).unsqueeze(2), 0.0), places >= 0
