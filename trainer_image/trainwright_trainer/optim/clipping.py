"""Gradient clipping. All configured limits apply, in this order: global norm, norm of each parameter, value."""

from __future__ import annotations

from collections.abc import Callable

import torch

from trainwright_api.config.trainer import GradientClipping

# Avoids a division by zero if all gradients are 0; torch.nn.utils uses the same value.
_TINY = 1e-6
Norms = Callable[[list[torch.Tensor]], torch.Tensor]


def norms_of(gradients: list[torch.Tensor]) -> torch.Tensor:
    """[gradients]: the norm of each."""
    return torch.stack(torch._foreach_norm(gradients))


def clip(gradients: list[torch.Tensor], section: GradientClipping | None, norms: Norms = norms_of) -> None:
    """Clip `gradients` in place. They must be on one device. `norms` differs if each rank has a part of a gradient."""
    if section is None or not gradients:
        return
    if section.clipglobalnorm:
        _clip_global_norm(gradients, section.clipglobalnorm, norms)
    if section.clipnorm:
        _clip_each_norm(gradients, section.clipnorm, norms)
    if section.clipvalue:
        torch._foreach_clamp_max_(gradients, section.clipvalue)
        torch._foreach_clamp_min_(gradients, -section.clipvalue)


def _clip_global_norm(gradients: list[torch.Tensor], limit: float, norms: Norms) -> None:
    total = torch.linalg.vector_norm(norms(gradients))
    if not total.is_cpu:
        torch._foreach_mul_(gradients, torch.clamp(limit / (total + _TINY), max=1.0))
        return
    # On a CPU reading the norm costs nothing, and in most steps it is within the limit. A NaN is not. numpy keeps the
    # dtype of the norm, and torch divides by multiplying with the reciprocal: the same factor, to the bit.
    factor = 1 / (total.numpy()[()] + _TINY) * limit
    if not factor >= 1:
        torch._foreach_mul_(gradients, float(factor))


def _clip_each_norm(gradients: list[torch.Tensor], limit: float, norms: Norms) -> None:
    factors = torch.clamp(limit / (norms(gradients) + _TINY), max=1.0)
    torch._foreach_mul_(gradients, list(factors.unbind()))
