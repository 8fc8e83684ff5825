"""Checkpoints of a dictionary, without a cluster."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
import ray.train
import torch

from trainwright.ray import Checkpoint
from trainwright_trainer.backends.ray.dictionary import FILE


def test_a_dictionary_comes_back_with_its_tensors_and_numbers() -> None:
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    checkpoint = Checkpoint.from_dict({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3})
    assert isinstance(checkpoint, ray.train.Checkpoint)
    found = Checkpoint(checkpoint.path, checkpoint.filesystem).to_dict()
    assert found["epoch"] == 3
    assert torch.equal(found["model"]["weight"], model.weight)
    torch.optim.Adam(model.parameters()).load_state_dict(found["optimizer"])


def test_its_folder_ends_with_it() -> None:
    checkpoint = Checkpoint.from_dict({"epoch": 1})
    folder = Path(checkpoint.path)
    assert (folder / FILE).exists()
    del checkpoint
    gc.collect()
    assert not folder.exists()


def test_what_would_have_to_be_unpickled_is_refused() -> None:
    with pytest.raises(TypeError, match=r"data\['a'\]\[1\]\['path'\] is a PosixPath: a checkpoint's dictionary holds"):
        Checkpoint.from_dict({"a": [1, {"path": Path("x")}]})


def test_another_checkpoint_has_no_dictionary(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Checkpoint.from_directory(tmp_path).to_dict()
