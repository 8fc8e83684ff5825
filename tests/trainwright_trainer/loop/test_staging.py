from __future__ import annotations

import torch

from trainwright_trainer.loop.staging import Staging
from trainwright_trainer.rundir.blocks import whole

CPU = torch.device("cpu")


class Owner:
    """An object that can be collected."""


def copied(staging, **tensors):
    return staging.copied(whole(tensors))


def test_a_copy_does_not_change_with_its_source():
    source = torch.ones(3)
    found = copied(Staging(CPU), a=source, step=torch.tensor(2.0))
    source += 1
    assert found["a"].data.tolist() == [1, 1, 1]
    assert found["step"].data.item() == 2


def test_memory_is_used_again_when_its_owner_is_gone():
    staging, owner = Staging(CPU), Owner()
    first = copied(staging, a=torch.zeros(3), b=torch.zeros(2))
    place = first["a"].data.data_ptr()
    staging.reuse_after(owner, first)
    assert copied(staging, a=torch.zeros(3))["a"].data.data_ptr() != place
    del owner
    again = copied(staging, a=torch.ones(3))["a"].data
    assert again.data_ptr() == place
    assert again.tolist() == [1, 1, 1]


def test_a_buffer_of_another_shape_is_not_used():
    staging, owner = Staging(CPU), Owner()
    staging.reuse_after(owner, copied(staging, a=torch.zeros(3)))
    del owner
    assert copied(staging, a=torch.zeros(4))["a"].data.tolist() == [0, 0, 0, 0]
    assert copied(staging, a=torch.zeros(4, dtype=torch.float64))["a"].data.dtype == torch.float64
