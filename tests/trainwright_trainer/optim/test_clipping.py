from __future__ import annotations

import pytest
import torch

from trainwright_api.config.trainer import GradientClipping
from trainwright_trainer.optim.clipping import clip


def gradients(scale: float = 1.0) -> list[torch.Tensor]:
    draws = torch.Generator().manual_seed(0)
    return [torch.randn(shape, generator=draws) * scale for shape in ((3, 4), (5,), (1, 1))]


def clipped(found: list[torch.Tensor], **fields: object) -> list[torch.Tensor]:
    clip(found, GradientClipping.model_validate({"clipglobalnorm": None, **fields}))
    return found


@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
def test_the_global_norm_is_that_of_torch(scale):
    parameters = [torch.nn.Parameter(torch.zeros_like(one)) for one in gradients()]
    for parameter, gradient in zip(parameters, gradients(scale), strict=True):
        parameter.grad = gradient
    torch.nn.utils.clip_grad_norm_(parameters, 0.5)
    for ours, theirs in zip(clipped(gradients(scale), clipglobalnorm=0.5), parameters, strict=True):
        assert torch.equal(ours, theirs.grad)


def test_clipnorm_bounds_each_parameter_by_itself():
    before, after = gradients(), clipped(gradients(), clipnorm=1.5)
    for old, new in zip(before, after, strict=True):
        assert new.norm() == pytest.approx(min(1.5, float(old.norm())), rel=1e-5)
        assert torch.allclose(new / new.norm(), old / old.norm())


def test_clipvalue_bounds_each_element():
    for old, new in zip(gradients(), clipped(gradients(), clipvalue=0.3), strict=True):
        assert torch.equal(new, old.clamp(-0.3, 0.3))


def test_half_a_unit_of_global_norm_is_the_default():
    found = gradients(10)
    clip(found, GradientClipping())
    assert torch.cat([one.flatten() for one in found]).norm() == pytest.approx(0.5, rel=1e-5)


def test_null_clips_nothing():
    found = gradients(10)
    clip(found, None)
    assert all(torch.equal(one, other) for one, other in zip(found, gradients(10), strict=True))
    clip([], GradientClipping())
