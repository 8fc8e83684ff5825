"""The penalty on weights: `trainer.regularization_type` and `trainer.regularization_lambda`."""

from __future__ import annotations

from typing import Literal

import torch

from trainwright_trainer.models.trainable import Tensors

Kind = Literal["l1", "l2", "l1_l2"]


def penalty(parameters: Tensors, kind: Kind, factor: float) -> torch.Tensor:
    """`factor` times the sum of absolute values (l1), of squares (l2), or both, of `parameters`: a scalar.

    Biases are not penalised: a bias shifts an output, and a shift of zero makes the model no simpler.
    """
    weights = [one for name, one in parameters.items() if not name.endswith(".bias")]
    terms = [one.abs().sum() for one in weights if kind != "l2"]
    terms += [one.square().sum() for one in weights if kind != "l1"]
    return factor * torch.stack(terms).sum()
