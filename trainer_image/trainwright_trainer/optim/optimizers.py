"""The optimizers that a config can name, each from torch.optim with every field of its section."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from trainwright_api.config import optimizers as sections
from trainwright_trainer.errors import not_built

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


def eager(kind: type[Optimizer]) -> Callable[..., Optimizer]:
    """A subclass of `kind` with the same arithmetic, without torch's wrappers for torch.compile and without closures.

    The wrappers import torch._dynamo at their first call, which takes five seconds in every run. No run compiles its
    optimizer (`trainer.compile` compiles the model), so we call the wrapped functions directly. If a later torch wraps
    nothing, `inspect.unwrap` returns the function itself.
    """
    plain = {
        name: inspect.unwrap(getattr(kind, name))
        for name in ("add_param_group", "zero_grad", "state_dict", "load_state_dict")
    }
    return type(kind.__name__, (kind,), {**plain, "step": _without_gradients(inspect.unwrap(kind.step))})


def _without_gradients(step: Callable[..., Any]) -> Callable[..., Any]:
    def stepping(self: Optimizer, closure: Callable[[], float] | None = None) -> Any:
        with torch.no_grad():
            return step(self, closure)

    # Without this mark torch wraps the function for its profiler and for step hooks, at 30 µs a step; we use neither.
    stepping.hooked = True  # type: ignore[attr-defined]
    return stepping
