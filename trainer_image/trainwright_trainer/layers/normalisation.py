"""The norms that a config can name, and the batches over which they take their moments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import nn

from trainwright_api.config.layers import NormParams
from trainwright_api.problems import Mistakes
from trainwright_trainer.layers.batch_norm import BatchNorm
from trainwright_trainer.layers.ghost_norm import GhostNorm

NORMS: Mapping[str, type[nn.Module]] = {"batch": BatchNorm, "layer": nn.LayerNorm, "ghost": GhostNorm}


def norm(word: str | None, features: int, parameters: NormParams | None) -> nn.Module | None:
    """The norm that a config names: `batch`, `layer`, `ghost` or null (None)."""
    if word is None:
        return None
    with torch.device("cpu"):  # the values of a norm are constants, so they need not be drawn later
        return NORMS[word](features, **(parameters.arguments() if parameters else {}))


@dataclass(frozen=True)
class NormBatches:
    """The rows that affect each other in a model. `whole`: those of a global batch, through batch norm.

    `virtual`: the rows of a virtual batch of ghost norm; None without ghost norm.
    """

    whole: bool = False
    virtual: int | None = None


def norm_batches(model: nn.Module) -> NormBatches:
    """Raises `Mistakes` if the virtual batches of ghost norms have different sizes: passes hold whole ones only."""
    norms = [module for module in model.modules() if isinstance(module, BatchNorm)]
    virtual = sorted({one.virtual_batch_size for one in norms if isinstance(one, GhostNorm)})
    if len(virtual) > 1:
        sizes = " and ".join(map(str, virtual))
        line = f"the ghost norms have virtual_batch_size {sizes} (default: 128): give all of them the same"
        raise Mistakes.one("config", line)
    return NormBatches(any(not isinstance(one, GhostNorm) for one in norms), virtual[0] if virtual else None)
