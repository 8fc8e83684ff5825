"""Bounds on the gradient. All that are given act, in the order: global norm, norm of each parameter, value."""

from __future__ import annotations

import torch

from trainwright_api.config.trainer import GradientClipping

# Keeps the division sane where all gradients are 0; torch.nn.utils uses the same.
_TINY = 1e-6


def clip(gradients: list[torch.Tensor], section: GradientClipping | None) -> None:
    """Changes `gradients` in place. They lie on one device."""
    if section is None or not gradients:
        return
    if section.clipglobalnorm:
        _clip_global_norm(gradients, section.clipglobalnorm)
    if section.clipnorm:
        _clip_each_norm(gradients, section.clipnorm)
    if section.clipvalue:
        torch._foreach_clamp_max_(gradients, section.clipvalue)
        torch._foreach_clamp_min_(gradients, -section.clipvalue)


def _clip_global_norm(gradients: list[torch.Tensor], limit: float) -> None:
    total = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(gradients)))
    factor = torch.clamp(limit / (total + _TINY), max=1.0)
    # On a CPU reading the factor costs nothing, and most steps can leave the gradients as they are.
    if factor.is_cpu and float(factor) == 1.0:
        return
    torch._foreach_mul_(gradients, factor)


def _clip_each_norm(gradients: list[torch.Tensor], limit: float) -> None:
    norms = torch.stack(torch._foreach_norm(gradients))
    factors = torch.clamp(limit / (norms + _TINY), max=1.0)
    torch._foreach_mul_(gradients, list(factors.unbind()))
