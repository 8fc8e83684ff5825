"""The penalty on weights: `trainer.regularization_type` and `trainer.regularization_lambda`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import torch

from trainwright_api.config.trainer import TrainerConfig
from trainwright_trainer.models.trainable import Tensors

Kind = Literal["l1", "l2", "l1_l2"]


def kind_of(trainer: TrainerConfig, trained: Iterable[str]) -> Kind | None:
    """The kind of the penalty on the trained parameters of these names. None without one, or if all are biases."""
    acts = trainer.regularization_lambda and any(map(_is_weight, trained))
    return trainer.regularization_type if acts else None


def penalty(parameters: Tensors, kind: Kind, factor: float) -> torch.Tensor:
    """`factor` times the sum of absolute values (l1), of squares (l2), or both, of `parameters`: a scalar.

    At least one must be a weight. Biases are not penalised: a bias shifts an output, and a shift of zero makes the
    model no simpler.
    """
    weights = [one for name, one in parameters.items() if _is_weight(name)]
    terms = [one.abs().sum(dtype=_dtype(one)) for one in weights if kind != "l2"]
    terms += [one.square().sum(dtype=_dtype(one)) for one in weights if kind != "l1"]
    return factor * torch.stack(terms).sum()


def _dtype(weight: torch.Tensor) -> torch.dtype:
    """That of a sum: at least float32, because one of float16 ends at 65,504."""
    return torch.promote_types(weight.dtype, torch.float32)


def _is_weight(name: str) -> bool:
    """Recurrent layers have several biases, such as `bias_ih_l0`."""
    return not name.rpartition(".")[2].startswith("bias")
