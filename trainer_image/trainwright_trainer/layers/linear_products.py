"""The products of a linear layer on a CPU, where those of `F.linear` take longer than they need.

**Categories.** A column of categories has few labels, and a batch has many rows of each. The product of a layer's
weights with the embedding of a label is the same in all of its rows, so it is computed once for the label. The forward
and the backward pass then take labels × width multiplications for each unit of the layer, not rows × width.

**Few columns.** The gradient of the weights is a product as wide as the layer's input. With less than 16 columns, it is
faster to compute its transpose.

Only the order of sums differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F

_DTYPES = (torch.float32, torch.float64)
_FEW_COLUMNS, _MANY_UNITS = 16, 64
"""Measured with AVX2: up to 3 times as fast with 1,024 rows and more, and no slower with 128."""


class Lookup(NamedTuple):
    """[rows, width]: row i is `table[labels[i]]`. `table`: [size, width]; `labels`: int64 [rows]."""

    table: torch.Tensor
    labels: torch.Tensor

    @property
    def rows(self) -> torch.Tensor:
        return F.embedding(self.labels, self.table)


Part = torch.Tensor | Lookup
"""[rows, width]."""


def is_faster(size: int, labels: torch.Tensor) -> bool:
    """True if a `Lookup` in a table of `size` rows saves time.

    A GPU multiplies rows faster than it adds up gradients by label. A traced graph has no branch on the number of rows,
    and half precision has no sums of rows of a table on a CPU.
    """
    is_eager = not (torch.compiler.is_compiling() or torch.is_autocast_enabled("cpu"))
    return size <= len(labels) and labels.device.type == "cpu" and is_eager


def side_by_side(parts: Sequence[Part]) -> torch.Tensor:
    """[rows, w₁], [rows, w₂], … → [rows, w₁ + w₂ + …]. One tensor is not copied."""
    tensors = [one.rows if isinstance(one, Lookup) else one for one in parts]
    return tensors[0] if len(tensors) == 1 else torch.cat(tensors, 1)


def linear_of_parts(parts: Sequence[Part], weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    """`F.linear` of the parts side by side: [rows, units]. `weight`: [units, w₁ + w₂ + …]."""
    if weight.dtype not in _DTYPES:
        return F.linear(side_by_side(parts), weight, bias)
    of_parts = list(zip(parts, torch.split(weight, [_width(one) for one in parts], 1), strict=True))
    plain = [(one, own) for one, own in of_parts if not isinstance(one, Lookup)]
    lookups = [(one, own) for one, own in of_parts if isinstance(one, Lookup)]
    sums = _sums(lookups)
    if not plain:
        return sums if bias is None else sums + bias
    rows = side_by_side([one for one, _ in plain])
    return linear_of_rows(rows, torch.cat([own for _, own in plain], 1), bias) + sums


def linear_of_rows(rows: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    """`F.linear` of [rows, columns], or of rows in more dimensions."""
    units, columns = weight.shape
    if columns < _FEW_COLUMNS and units >= _MANY_UNITS and _is_trained_here(rows):
        transposed = weight.t().contiguous()
        return rows @ transposed if bias is None else torch.addmm(bias, rows, transposed)
    return F.linear(rows, weight, bias)


def _is_trained_here(rows: torch.Tensor) -> bool:
    is_plain = rows.dim() == 2 and rows.device.type == "cpu"
    return is_plain and torch.is_grad_enabled() and not torch.compiler.is_compiling()


def _width(part: Part) -> int:
    return (part.table if isinstance(part, Lookup) else part).shape[1]


def _sums(lookups: Sequence[tuple[Lookup, torch.Tensor]]) -> torch.Tensor:
    """The sum of the products of all lookups with their columns of the weights: [rows, units]."""
    products = [F.linear(one.table, own) for one, own in lookups]
    starts = torch.tensor([0, *map(len, products[:-1])]).cumsum(0)
    rows = torch.stack([one.labels for one, _ in lookups], 1) + starts
    return F.embedding_bag(rows, torch.cat(products), mode="sum")
