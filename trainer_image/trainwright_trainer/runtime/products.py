"""The arithmetic of float32 products on a GPU. On a CPU nothing here acts."""

from __future__ import annotations

import torch


def compute_products_in(precision: str) -> None:
    """Let products of matrices, convolutions and recurrent layers use TF32 only with `precision` tf32.

    torch's own default is TF32 for convolutions and recurrent layers, which differ from those of a CPU by 1e-3 then.
    torch's export and compiler read these flags, and not those of each operation.
    """
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
