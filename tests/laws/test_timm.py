"""The models of timm: weights in the layout of the hub's cache, their size and scale, and names that do not exist."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file
from tests.ranks import on_ranks

from trainwright_api.config import ModelConfig, resolve
from trainwright_api.problems import Mistakes
from trainwright_trainer import predict, train
from trainwright_trainer.data.selection import features_of
from trainwright_trainer.distributed.process_group import ProcessGroup
from trainwright_trainer.encoders.base import EncoderInput
from trainwright_trainer.encoders.timm import Timm
from trainwright_trainer.layers.batch_norm import share_batch_norm
from trainwright_trainer.layers.image_batch_norm import ImageBatchNorm, for_no_rows

NAME = "test_convnext"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Images, and a model of timm as the hub's cache has it, with weights made here."""
    import timm

    home, draws = tmp_path_factory.mktemp("timm"), np.random.default_rng(0)
    for number in range(40):
        pixels = draws.integers(0, 80, (36, 40, 3), dtype=np.uint8) + np.uint8(120 * (number % 2))
        Image.fromarray(pixels).save(home / f"{number}.png")
    late = ["yes" if number % 2 else "no" for number in range(40)]
    pd.DataFrame({"picture": [f"{number}.png" for number in range(40)], "late": late}).to_csv(home / "rows.csv")
    torch.manual_seed(5)
    weights = timm.create_model(NAME).state_dict()
    repository = timm.get_pretrained_cfg(NAME).hf_hub_id
    folder = home / "huggingface" / "hub" / f"models--{repository.replace('/', '--')}"
    (folder / "refs").mkdir(parents=True)
    (folder / "refs" / "main").write_text("0" * 40)
    (folder / "snapshots" / ("0" * 40)).mkdir(parents=True)
    save_file(weights, folder / "snapshots" / ("0" * 40) / "model.safetensors")
    return home


@pytest.fixture
def offline(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The hub's cache of `home`, without the network. The library has read its environment before."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(home / "huggingface" / "hub"))
    return home


def job(home: Path, encoder: Mapping[str, Any], **image: Any) -> dict[str, Any]:
    picture = {"name": "picture", "type": "image", "encoder": dict(encoder), **image}
    return {
        "dataset": str(home / "rows.csv"),
        "config": {
            "input_features": [picture],
            "output_features": [{"name": "late", "type": "binary"}],
            "trainer": {"epochs": 2, "batch_size": 8, "learning_rate": 0.01},
        },
    }


def test_a_frozen_model_has_the_stored_weights_and_a_saved_one_needs_no_cache(offline: Path, tmp_path: Path) -> None:
    copied = Path(shutil.copytree(offline, tmp_path / "home"))
    given = job(copied, {"type": "timm", "model_name": NAME, "trainable": False})
    given["config"]["input_features"][0]["preprocessing"] = {"cache_encoder_embeddings": True}
    train(given, output=tmp_path / "out", quiet=True)
    weights = load_file(tmp_path / "out" / "model" / "weights.safetensors")
    prefix = "encoders.picture.model."
    own = {name.removeprefix(prefix): one for name, one in weights.items() if name.startswith(prefix)}
    [file] = (copied / "huggingface").rglob("model.safetensors")
    stored = load_file(file)
    assert own
    assert all(torch.equal(value, stored[name]) for name, value in own.items())
    assert {name for name in stored if name not in own} == {"head.fc.weight", "head.fc.bias"}
    shutil.rmtree(copied / "huggingface")
    answer = predict(dataset=copied / "rows.csv", model=tmp_path / "out", output=tmp_path / "a.parquet", quiet=True)
    assert np.isfinite(answer["late_probability"].to_numpy()).all()


@pytest.mark.parametrize(
    ("encoder", "preprocessing", "size"),
    [
        ({"type": "timm", "model_name": "test_vit"}, {}, (160, 160)),
        ({"type": "timm", "model_name": "inception_v4"}, {}, (299, 299)),
        ({"type": "timm", "model_name": "inception_v4"}, {"height": 90, "width": 80}, (90, 80)),
        ({"type": "timm", "model_name": "inception_v4", "use_pretrained": False}, {}, (None, None)),
    ],
)
def test_images_have_the_size_of_the_weights_unless_the_file_gives_one(
    encoder: Mapping[str, Any], preprocessing: Mapping[str, Any], size: tuple[int | None, int | None]
) -> None:
    given = job(Path(), encoder, preprocessing=preprocessing)["config"]
    section = features_of(resolve(ModelConfig.model_validate(given)))[0].preprocessing
    assert (section.height, section.width) == size


def made(name: str, channels: int = 3, size: int = 64, standardize: str | None = None, **own: Any) -> Timm:
    given = job(Path(), {"type": "timm", "model_name": name, **own})["config"]
    encoder = resolve(ModelConfig.model_validate(given)).input_features[0].encoder
    statistics = {"channels": channels, "height": size, "width": size, "standardize": standardize}
    with torch.device("meta"):
        return Timm(encoder, EncoderInput(statistics, 1, "config.input_features[0].encoder"))


def test_the_pixels_have_the_scale_of_the_weights_unless_the_file_standardizes_them() -> None:
    assert made("test_vit", 3, 160).pixels.mean.flatten().tolist() == [0.5, 0.5, 0.5]
    assert made("test_vit", 3, 160, "imagenet1k").pixels.mean.flatten().tolist() == pytest.approx([0.485, 0.456, 0.406])
    assert made("test_vit", 1, 160).pixels.std.flatten().tolist() == [0.5]
    assert made("test_vit", 3, 160, use_pretrained=False).pixels.mean.flatten().tolist() == [0, 0, 0]


def test_a_model_of_one_size_is_built_for_the_images() -> None:
    assert made("test_vit", 1, 32, use_pretrained=False).output_size == 64


@pytest.mark.parametrize(
    ("encoder", "line"),
    [
        ({"type": "timm", "model_name": "resnet19"}, r"model_name: 'resnet19': timm has no such model; the nearest is"),
        ({"type": "timm", "model_name": "resnet18.b9"}, "the weights of resnet18 have the tags a1_in1k, a2_in1k"),
        ({"type": "timm", "model_name": "test_resnet"}, r"there is no model 'timm/test_resnet\S*' in"),
        ({"type": "timm", "model_name": "levit_128s", "use_pretrained": False}, r"the model cannot read|no 36 × 40"),
    ],
)
def test_a_mistake_is_one_line(encoder: dict[str, Any], line: str, offline: Path, tmp_path: Path) -> None:
    with pytest.raises(Mistakes, match=line) as mistakes:
        train(job(offline, encoder), output=tmp_path / "out", quiet=True)
    assert "\n" not in str(mistakes.value)
    assert not (tmp_path / "out").exists()


def _a_step(shares: list[tuple[int, int]]) -> list[torch.Tensor]:
    """The gradient and the running statistics of a norm after a step on this rank's share of the rows."""
    ranks = ProcessGroup(torch.device("cpu"))
    values = torch.randn(6, 2, 3, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    norm = ImageBatchNorm(2).double()
    share_batch_norm(norm, ranks)
    own = values[slice(*shares[ranks.rank])]
    if len(own):
        norm(own).square().sum().backward()
    else:
        with for_no_rows():
            norm(values.new_ones(1, 2, 3, 3))[:0].sum().backward()
    assert norm.weight is not None
    assert norm.weight.grad is not None
    return [ranks.sum(norm.weight.grad), norm.running_mean, norm.running_var]


def test_a_rank_without_rows_adds_nothing_to_a_batch_norm() -> None:
    alone = on_ranks(2, _a_step, [(0, 3), (3, 6)])
    for found in on_ranks(2, _a_step, [(0, 6), (6, 6)]):
        for value, expected in zip(found, alone[0], strict=True):
            torch.testing.assert_close(value, expected)
