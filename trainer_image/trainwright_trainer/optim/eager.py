"""torch's optimizers without the wrappers that serve torch.compile.

Those wrappers import torch._dynamo on their first call, which costs five seconds of every run that never compiles an
optimizer. Ours is compiled nowhere (`trainer.compile` compiles the model), so we call the functions beneath them. Where
a later torch wraps nothing, `inspect.unwrap` gives the function itself.
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

    # torch wraps what lacks this mark for its profiler and for step hooks, at 30 µs a step; we use neither.
    stepping.hooked = True  # type: ignore[attr-defined]
    return stepping


def eager(kind: type[Optimizer]) -> Callable[..., Optimizer]:
    """A subclass of `kind` with the same arithmetic, that leaves torch._dynamo alone. Closures are not supported."""
    plain = {
        name: inspect.unwrap(getattr(kind, name))
        for name in ("add_param_group", "zero_grad", "state_dict", "load_state_dict")
    }
    return type(kind.__name__, (kind,), {**plain, "step": _without_gradients(inspect.unwrap(kind.step))})
