"""The memory of an optimizer's state."""

from __future__ import annotations

import pytest
import torch

from trainwright_trainer.strategies.optimizer_state import device_of_steps


class Optimizer(torch.optim.Optimizer):
    def __init__(self, parameter: torch.Tensor, *, fused: bool | None) -> None:
        super().__init__([parameter], {"fused": fused})


@pytest.mark.parametrize(("fused", "device"), [(True, "meta"), (False, "cpu"), (None, "cpu")])
def test_a_fused_optimizer_counts_steps_on_the_device_of_the_parameter(*, fused: bool | None, device: str) -> None:
    parameter = torch.zeros(2, device="meta")
    assert device_of_steps(Optimizer(parameter, fused=fused), parameter) == torch.device(device)


def test_an_optimizer_made_of_the_groups_of_a_fused_one_is_fused() -> None:
    """As Horovod's is."""
    parameter = torch.zeros(2, device="meta", requires_grad=True)
    other = torch.optim.Adam(torch.optim.Adam([parameter], fused=True).param_groups)  # type: ignore[arg-type]
    assert device_of_steps(other, parameter) == torch.device("meta")
