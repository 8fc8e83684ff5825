"""The arithmetic of float32 products on a GPU. On a CPU nothing here acts."""

from __future__ import annotations

from typing import Any

import torch


def compute_products_in(precision: str) -> None:
    """Let products of matrices, convolutions and recurrent layers use TF32 only with `precision` tf32.

    torch's own default is TF32 for convolutions and recurrent layers, which differ from those of a CPU by 1e-3 then.
    """
    word = "tf32" if precision == "tf32" else "ieee"
    backends: Any = torch.backends  # its modules are made at run time
    for operations in (backends.cuda.matmul, backends.cudnn.conv, backends.cudnn.rnn):
        operations.fp32_precision = word
