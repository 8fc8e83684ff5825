"""Reductions of a sequence to one vector, by Ludwig's names. Steps outside a mask do not count."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from trainwright_trainer.layers.fully_connected import linear

Mask = torch.Tensor | None
"""bool [rows, length], True for each step that counts. None: all steps count."""

# The width of the hidden layer of the reduction `attention`, as in Ludwig.
_ATTENTION_SIZE = 256


class Reduction(nn.Module):
    """values [rows, length, width], mask → [rows, output_size]. A row without steps gives zeros.

    `word`: last, sum, mean (also avg), max, concat or attention. No sequence has more than `length` steps.
    """

    def __init__(self, word: str, length: int, width: int) -> None:
        super().__init__()
        self.output_size = length * width if word == "concat" else width
        self._reduce: Callable[[torch.Tensor, Mask], torch.Tensor]
        if word == "attention":
            self._reduce = _AttentionReduction(width)
        else:
            self._reduce = _Concatenation(length) if word == "concat" else _FUNCTIONS[word]

    def forward(self, values: torch.Tensor, mask: Mask = None) -> torch.Tensor:
        return self._reduce(values, mask)


class _AttentionReduction(nn.Module):
    """The sum of the steps, weighted by a softmax of learnt scores."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.hidden = linear(width, _ATTENTION_SIZE)
        self.score = linear(_ATTENTION_SIZE, 1, use_bias=False)

    def forward(self, values: torch.Tensor, mask: Mask) -> torch.Tensor:
        scores = self.score(torch.tanh(self.hidden(values)))
        if mask is not None:
            scores = scores.masked_fill(~mask.unsqueeze(2), torch.finfo(scores.dtype).min)
        return _sum(torch.softmax(scores, 1) * values, mask)


def _sum(values: torch.Tensor, mask: Mask) -> torch.Tensor:
    return _counted(values, mask, 0.0).sum(1)


def _mean(values: torch.Tensor, mask: Mask) -> torch.Tensor:
    if mask is None:
        return values.mean(1)
    return _sum(values, mask) / mask.sum(1, keepdim=True).clamp(min=1)


def _max(values: torch.Tensor, mask: Mask) -> torch.Tensor:
    if mask is None:
        return values.amax(1)
    largest = _counted(values, mask, -torch.inf).amax(1)
    return torch.where(mask.any(1, keepdim=True), largest, 0.0)


def _last(values: torch.Tensor, mask: Mask) -> torch.Tensor:
    if mask is None:
        return values[:, -1]
    places = torch.arange(values.shape[1], device=values.device)
    last = torch.where(mask, places, 0).amax(1)
    found = values.gather(1, last[:, None, None].expand(-1, 1, values.shape[2])).squeeze(1)
    return torch.where(mask.any(1, keepdim=True), found, 0.0)


@dataclass(frozen=True)
class _Concatenation:
    """The steps side by side, then zeros up to `length` steps."""

    length: int

    def __call__(self, values: torch.Tensor, mask: Mask) -> torch.Tensor:
        counted = _counted(values, mask, 0.0)
        return F.pad(counted, (0, 0, 0, self.length - counted.shape[1])).flatten(1)


def _counted(values: torch.Tensor, mask: Mask, other: float) -> torch.Tensor:
    """The values, with `other` in the steps that do not count."""
    return values if mask is None else values.masked_fill(~mask.unsqueeze(2), other)


_FUNCTIONS: Mapping[str, Callable[[torch.Tensor, Mask], torch.Tensor]] = {
    "sum": _sum,
    "mean": _mean,
    "avg": _mean,
    "max": _max,
    "last": _last,
}
