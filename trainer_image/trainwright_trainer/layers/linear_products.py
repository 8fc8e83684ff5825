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
from itertools import accumulate
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
    if _is_traced() or torch.is_autocast_enabled("cpu"):
        return False
    return size <= len(labels) and labels.device.type == "cpu"


def _is_traced() -> bool:
    return torch.compiler.is_compiling() or torch.compiler.is_exporting()


def side_by_side(parts: Sequence[Part]) -> torch.Tensor:
    """[rows, w₁], [rows, w₂], … → [rows, w₁ + w₂ + …]. One tensor is not copied."""
    tensors = [one.rows if isinstance(one, Lookup) else one for one in parts]
    return tensors[0] if len(tensors) == 1 else torch.cat(tensors, 1)


def linear_of_parts(parts: Sequence[Part], weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    """`F.linear` of the parts side by side: [rows, units]. `weight`: [units, w₁ + w₂ + …]."""
    of_parts = list(zip(parts, torch.split(weight, [_width(one) for one in parts], 1), strict=True))
    plain = [(one, own) for one, own in of_parts if not isinstance(one, Lookup)]
    lookups = [(one, own) for one, own in of_parts if isinstance(one, Lookup)]
    if weight.dtype not in _DTYPES or not lookups:
        return linear_of_rows(side_by_side(parts), weight, bias)
    sums = _sums(lookups, bias)
    if not plain:
        return sums
    rows = side_by_side([one for one, _ in plain])
    return sums.addmm_(rows, _transposed(torch.cat([own for _, own in plain], 1), rows))


def linear_of_rows(rows: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    """`F.linear` of [rows, columns], or of rows in more dimensions."""
    if rows.dim() != 2:
        return F.linear(rows, weight, bias)
    columns = _transposed(weight, rows)
    return rows @ columns if bias is None else torch.addmm(bias, rows, columns)


def _transposed(weight: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """[columns, units]. A copy of a few columns: the gradient of a view would be a product of short rows."""
    units, columns = weight.shape
    is_narrow = columns < _FEW_COLUMNS and units >= _MANY_UNITS
    is_trained = torch.is_grad_enabled() and not _is_traced()
    return weight.t().contiguous() if is_narrow and is_trained and rows.device.type == "cpu" else weight.t()


def _width(part: Part) -> int:
    return (part.table if isinstance(part, Lookup) else part).shape[1]


def _sums(lookups: Sequence[tuple[Lookup, torch.Tensor]], bias: torch.Tensor | None) -> torch.Tensor:
    """The sum of the products of all lookups with their columns of the weights, and the bias: [rows, units]."""
    # Each row has one label of each column, so the bias is added to the products of one of them.
    products = [F.linear(one.table, own, None if at else bias) for at, (one, own) in enumerate(lookups)]
    starts = torch.tensor([0, *accumulate(map(len, products[:-1]))])
    rows = torch.stack([one.labels for one, _ in lookups], 1) + starts
    return F.embedding_bag(rows, torch.cat(products), mode="sum")
