from __future__ import annotations

import torch

from trainwright_trainer.loop.staging import Staging

CPU = torch.device("cpu")


class Owner:
    """An object that can be collected."""


def test_a_copy_does_not_change_with_its_source():
    source = torch.ones(3)
    found = Staging(CPU).copied({"a": source, "step": torch.tensor(2.0)})
    source += 1
    assert found["a"].tolist() == [1, 1, 1]
    assert found["step"].item() == 2


def test_memory_is_used_again_when_its_owner_is_gone():
    staging, owner = Staging(CPU), Owner()
    first = staging.copied({"a": torch.zeros(3), "b": torch.zeros(2)})
    place = first["a"].data_ptr()
    staging.reuse_after(owner, first)
    assert staging.copied({"a": torch.zeros(3)})["a"].data_ptr() != place
    del owner
    again = staging.copied({"a": torch.ones(3)})["a"]
    assert again.data_ptr() == place
    assert again.tolist() == [1, 1, 1]


def test_a_buffer_of_another_shape_is_not_used():
    staging, owner = Staging(CPU), Owner()
    staging.reuse_after(owner, staging.copied({"a": torch.zeros(3)}))
    del owner
    assert staging.copied({"a": torch.zeros(4)})["a"].tolist() == [0, 0, 0, 0]
    assert staging.copied({"a": torch.zeros(4, dtype=torch.float64)})["a"].dtype == torch.float64
