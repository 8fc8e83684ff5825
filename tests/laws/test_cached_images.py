"""The laws of cached embeddings of images: those of `test_cached_embeddings.py`, with torchvision's models."""

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
from tests.ranks import on_ranks

from trainwright_api.config import ModelConfig, resolve
from trainwright_trainer import evaluate, predict, train
from trainwright_trainer.data.prepared import Prepared
from trainwright_trainer.data.preprocess import prepare
from trainwright_trainer.distributed.process_group import ProcessGroup
from trainwright_trainer.distributed.ranks import OneRank, Ranks
from trainwright_trainer.encoders.torchvision import Torchvision
from trainwright_trainer.loop import embedding_pass
from trainwright_trainer.tasks.embeddings import embedding_keys, with_embeddings

from .cached import trained_alike

ROWS = 60


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of images, and weights of a ResNet in the layout of TORCH_HOME."""
    from torchvision.models import get_model, get_model_weights

    home, draws = tmp_path_factory.mktemp("images"), np.random.default_rng(0)
    paths = []
    for number in range(ROWS):
        pixels = draws.integers(0, 80, (36, 40, 3), dtype=np.uint8) + np.uint8(120 * (number % 2))
        paths.append(f"{number}.png")
        Image.fromarray(pixels).save(home / paths[-1])
    late = ["yes" if number % 2 else "no" for number in range(ROWS)]
    pd.DataFrame({"picture": paths, "late": late}).to_csv(home / "rows.csv", index=False)
    torch.manual_seed(0)
    model = get_model("resnet18")
    for buffer in model.buffers():
        buffer.copy_(torch.rand(buffer.shape) + 0.5 if buffer.is_floating_point() else buffer)
    folder = home / "weights" / "hub" / "checkpoints"
    folder.mkdir(parents=True)
    torch.save(model.state_dict(), folder / get_model_weights("resnet18").DEFAULT.url.rpartition("/")[2])
    return home


@pytest.fixture
def home(made: Path, tmp_path: Path) -> Path:
    """A copy, which a test may change."""
    return Path(shutil.copytree(made, tmp_path / "home", ignore=shutil.ignore_patterns(".trainwright_cache")))


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows of each forward pass of a model of torchvision."""
    rows: list[int] = []
    forward = Torchvision.forward

    def counting(self: Torchvision, columns: torch.Tensor) -> torch.Tensor:
        rows.append(len(columns))
        return forward(self, columns)

    monkeypatch.setattr(Torchvision, "forward", counting)
    return rows


def job(home: Path, *, caches: bool = True, others: tuple[Mapping[str, Any], ...] = (), **own: Any) -> dict[str, Any]:
    encoder = {"type": "resnet", "model_variant": 18, "trainable": False, "model_cache_dir": str(home / "weights")}
    preprocessing = {"height": 32, "width": 32, "cache_encoder_embeddings": caches, **own}
    picture = {"name": "picture", "type": "image", "encoder": encoder, "preprocessing": preprocessing}
    return {
        "dataset": str(home / "rows.csv"),
        "config": {
            "input_features": [picture, *others],
            "output_features": [{"name": "late", "type": "binary"}],
            "trainer": {"epochs": 3, "batch_size": 16, "learning_rate": 0.01},
        },
    }


AUGMENTED = {
    "name": "again",
    "column": "picture",
    "type": "image",
    "augmentation": [{"type": "random_horizontal_flip"}, {"type": "random_brightness"}],
    "encoder": {"type": "stacked_cnn", "conv_layers": [{"out_channels": 4}], "output_size": 4},
}


def test_losses_and_the_saved_model_are_those_of_an_uncached_run(home: Path, tmp_path: Path) -> None:
    """Beside another image, whose random changes stay the same."""
    given = {name: job(home, caches=name == "cached", others=(AUGMENTED,)) for name in ("plain", "cached")}
    result = trained_alike(given["plain"], given["cached"], tmp_path, frozen="encoders.picture.")
    shutil.rmtree(home / "weights")
    scores = evaluate(given["cached"], model=tmp_path / "cached", output=tmp_path / "scores", quiet=True)
    assert scores["late"] == pytest.approx(result.test["late"], abs=1e-6)
    answer = predict(dataset=home / "rows.csv", model=tmp_path / "cached", output=tmp_path / "a.parquet", quiet=True)
    assert len(answer) == ROWS


def test_each_image_is_encoded_once_and_never_again_after_a_change_of_the_head(
    home: Path, tmp_path: Path, passes: list[int]
) -> None:
    given = job(home)
    train(given, output=tmp_path / "one", quiet=True)
    assert sum(passes) == ROWS
    passes.clear()
    given["config"]["combiner"] = {"type": "concat", "num_fc_layers": 1, "output_size": 4}
    train(given, output=tmp_path / "two", quiet=True)
    assert passes == []


def test_a_changed_weight_or_image_is_another_key(home: Path) -> None:
    before = keys_of(job(home))
    assert keys_of(job(home)) == before
    Image.fromarray(np.full((36, 40, 3), 9, np.uint8)).save(home / "3.png")
    after = keys_of(job(home))
    assert after != before
    [path] = (home / "weights" / "hub" / "checkpoints").iterdir()
    weights = torch.load(path, weights_only=True)
    weights["layer1.0.bn1.running_mean"][0] += 1e-3
    path.unlink()
    torch.save(weights, path)
    assert keys_of(job(home)) not in (before, after)


def embedded(given: Mapping[str, Any], ranks: Ranks | None = None) -> Prepared:
    config = resolve(ModelConfig.model_validate(given["config"]))
    data = prepare(config, given["dataset"], seed=42)
    found, _ = with_embeddings(data, config, 42, ranks or OneRank(), lambda _line: None)
    data.finish()
    return found


def keys_of(given: Mapping[str, Any]) -> dict[str, str]:
    return embedding_keys(embedded(given).statistics)


def vectors_of(given: Mapping[str, Any], ranks: Ranks | None = None) -> Any:
    return embedded(given, ranks).columns["picture"].combine_chunks().values.to_numpy().copy()


def _on_a_rank(given: Mapping[str, Any]) -> Any:
    embedding_pass.PASS_PIXELS = 3 * 32 * 32 * 8
    return vectors_of(given, ProcessGroup(torch.device("cpu")))


def test_two_ranks_and_threads_and_blocks_of_images_have_the_vectors_of_one(
    home: Path, monkeypatch: pytest.MonkeyPatch, passes: list[int]
) -> None:
    monkeypatch.setattr(embedding_pass, "PASS_PIXELS", 3 * 32 * 32 * 8)
    alone = vectors_of(job(home))
    assert passes == [8] * 7 + [4]
    shutil.rmtree(home / ".trainwright_cache")
    for found in on_ranks(2, _on_a_rank, job(home, num_processes=2)):
        assert np.array_equal(found, alone)
    shutil.rmtree(home / ".trainwright_cache")
    monkeypatch.setattr(embedding_pass, "CHUNK_ROWS", 16)
    assert np.array_equal(vectors_of(job(home)), alone)


def test_a_dropped_row_has_no_embedding_and_a_filled_one_has(home: Path) -> None:
    (home / "7.png").unlink()
    data = embedded(job(home, missing_value_strategy="drop_row"))
    assert np.flatnonzero(~data.valid).tolist() == [7]
    assert data.columns["picture"].null_count == 1
    filled = embedded(job(home, missing_value_strategy="fill_with_const")).columns["picture"]
    assert filled.null_count == 0
    assert np.isfinite(filled.combine_chunks().values.to_numpy()).all()
