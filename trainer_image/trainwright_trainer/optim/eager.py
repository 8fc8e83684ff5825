"""torch's optimizers without their wrappers for torch.compile.

The wrappers import torch._dynamo at their first call, which takes five seconds in every run. No run compiles its
optimizer (`trainer.compile` compiles the model), so we call the wrapped functions directly. If a later torch wraps
nothing, `inspect.unwrap` returns the function itself.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch.optim import Optimizer


def _without_gradients(step: Callable[..., Any]) -> Callable[..., Any]:
    def stepping(self: Optimizer, closure: Callable[[], float] | None = None) -> Any:
        with torch.no_grad():
            return step(self, closure)

    # Without this mark torch wraps the function for its profiler and for step hooks, at 30 µs a step; we use neither.
    stepping.hooked = True  # type: ignore[attr-defined]
    return stepping


def eager(kind: type[Optimizer]) -> Callable[..., Optimizer]:
    """A subclass of `kind` with the same arithmetic that does not import torch._dynamo. It supports no closures."""
    plain = {
        name: inspect.unwrap(getattr(kind, name))
        for name in ("add_param_group", "zero_grad", "state_dict", "load_state_dict")
    }
    return type(kind.__name__, (kind,), {**plain, "step": _without_gradients(inspect.unwrap(kind.step))})
