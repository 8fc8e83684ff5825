"""`TorchTrainer.restore`: what the file beside a run holds, and what has to be given again. Without a cluster."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ray.train import CheckpointConfig, FailureConfig, RunConfig, ScalingConfig
from ray.train.torch import TorchConfig

from trainwright.ray import TorchTrainer
from trainwright_trainer.backends.ray import torch_trainer


def train_func(config: dict[str, Any]) -> None:
    """Never called here."""


@pytest.fixture(autouse=True)
def no_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """`fit` writes its file, and Ray's own part is left out."""
    monkeypatch.setattr(torch_trainer.RaysTorchTrainer, "fit", lambda _: "fitted")


def begun(folder: Path, function: Any = train_func, **options: Any) -> str:
    run = RunConfig(
        name="digits",
        storage_path=str(folder),
        checkpoint_config=CheckpointConfig(num_to_keep=3, checkpoint_score_attribute="val_loss"),
        failure_config=FailureConfig(max_failures=2),
    )
    scaling = ScalingConfig(num_workers=2, use_gpu=False, resources_per_worker={"CPU": 1})
    whole = {"train_loop_config": {"lr": 0.1}, "scaling_config": scaling, "run_config": run, **options}
    assert TorchTrainer(function, **whole).fit() == "fitted"
    return str(folder / "digits")


def test_a_restored_trainer_is_the_same(tmp_path: Path) -> None:
    path = begun(tmp_path)
    assert TorchTrainer.can_restore(path)
    found = TorchTrainer.restore(path + "/")
    assert found.train_loop_per_worker is train_func
    assert found.train_loop_config == {"lr": 0.1}
    assert found.scaling_config.num_workers == 2
    assert found.scaling_config.resources_per_worker == {"CPU": 1}
    assert found.run_config.storage_context.experiment_fs_path == path
    assert found.run_config.checkpoint_config.num_to_keep == 3
    assert found.run_config.checkpoint_config.checkpoint_score_attribute == "val_loss"
    assert found.run_config.failure_config.max_failures == 2


def test_options_replace_those_of_the_first_trainer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun(tmp_path, scaling_config=ScalingConfig(num_workers=(1, 4)))
    monkeypatch.chdir(tmp_path)
    assert TorchTrainer.restore("digits").scaling_config.num_workers == (1, 4)
    found = TorchTrainer.restore("digits", train_loop_config={"lr": 1}, scaling_config=ScalingConfig(num_workers=3))
    assert (found.train_loop_config, found.scaling_config.num_workers) == ({"lr": 1}, 3)


def test_a_folder_without_a_run(tmp_path: Path) -> None:
    assert not TorchTrainer.can_restore(str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"holds no trainer.json"):
        TorchTrainer.restore(str(tmp_path))


def test_a_function_without_a_name_is_given_again(tmp_path: Path) -> None:
    path = begun(tmp_path, lambda: None)
    with pytest.raises(ValueError, match="cannot be imported: give train_loop_per_worker"):
        TorchTrainer.restore(path)
    assert TorchTrainer.restore(path, train_func).train_loop_per_worker is train_func


def test_what_no_file_describes_is_given_again(tmp_path: Path) -> None:
    path = begun(tmp_path, torch_config=TorchConfig(backend="gloo"), train_loop_config={"path": Path("x")})
    assert json.loads((tmp_path / "digits" / "trainer.json").read_text())["config"] is None
    with pytest.raises(ValueError, match="no file describes torch_config, train_loop_config: give restore the same"):
        TorchTrainer.restore(path)
    TorchTrainer.restore(path, torch_config=TorchConfig(), train_loop_config={})
