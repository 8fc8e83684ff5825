"""The optimizers that a config can name, each from torch.optim with every field of its section."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch
from torch import nn
from torch.optim import Optimizer

from trainwright_api.config import optimizers as sections
from trainwright_trainer.errors import not_built
from trainwright_trainer.optim.eager import eager

BUILT: Mapping[str, type[Optimizer]] = {
    "sgd": torch.optim.SGD,
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
    "adadelta": torch.optim.Adadelta,
    "adagrad": torch.optim.Adagrad,
    "adamax": torch.optim.Adamax,
    "nadam": torch.optim.NAdam,
    "rmsprop": torch.optim.RMSprop,
}

# These have one fused kernel for all parameters on CPU and GPU; torch's other optimizers have none on a CPU.
FUSED = frozenset({"sgd", "adam", "adamw", "adagrad"})


def make_optimizer(section: sections.Optimizer, parameters: Iterable[nn.Parameter], learning_rate: float) -> Optimizer:
    """The optimizer of a config's section for the trained `parameters`. Raises `Mistakes` if it is not implemented."""
    word: str = section.model_dump()["type"]
    if word not in BUILT:
        raise not_built("config.trainer.optimizer.type", word, ", ".join(sorted(BUILT)))
    fields = section.model_dump(exclude={"type"})
    speed = {"fused": True} if word in FUSED else {"foreach": True}
    return eager(BUILT[word])(parameters, lr=learning_rate, **fields, **speed)
