"""The laws of images: files and bytes, any encoder, augmentation, workers, windows, resume, and a saved model."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image
from tests.ranks import on_ranks

from trainwright_api.checks import support
from trainwright_api.config.inputs_media import ImageInput
from trainwright_api.problems import Mistakes
from trainwright_trainer import predict, train
from trainwright_trainer.encoders import ENCODERS
from trainwright_trainer.encoders.base import Encoder, EncoderInput
from trainwright_trainer.loop.arguments import TrainingResult
from trainwright_trainer.loop.trainer import Trainer

from .parity_job import Case, interrupted, trained
from .test_combiners import assert_one_curve

CNN = {"type": "stacked_cnn", "conv_layers": [{"out_channels": 4, "conv_norm": "batch"}], "output_size": 6}
RESNET = {"type": "resnet", "model_variant": 18, "use_pretrained": False}
SMALLEST: Mapping[str, tuple[int, Mapping[str, Any]]] = {
    "stacked_cnn": (16, {}),
    "mlp_mixer": (16, {"patch_size": 4, "embed_size": 8, "num_layers": 2, "token_size": 8, "channel_dim": 8}),
    "alexnet": (64, {}),
    "convnext": (32, {"model_variant": "tiny"}),
    "densenet": (32, {}),
    "efficientnet": (32, {}),
    "googlenet": (32, {}),
    "inceptionv3": (80, {}),
    "maxvit": (224, {}),
    "mnasnet": (32, {}),
    "mobilenetv2": (32, {}),
    "mobilenetv3": (32, {}),
    "regnet": (32, {"model_variant": "x_400mf"}),
    "resnet": (32, {"model_variant": 18}),
    "resnext": (32, {}),
    "shufflenet_v2": (32, {}),
    "squeezenet": (32, {}),
    "swin_transformer": (32, {}),
    "vgg": (32, {}),
    "vit": (32, {}),
    "wide_resnet": (32, {}),
    "timm": (64, {"model_name": "test_convnext"}),
    "caformer": (64, {}),
    "convformer": (64, {}),
    "poolformer": (64, {}),
    "convnextv2": (64, {"model_name": "convnextv2_atto"}),
}
"""The height and width, and the fields of the smallest model, of each encoder."""
OWN = ("stacked_cnn", "mlp_mixer")
QUICK = ("stacked_cnn", "mlp_mixer", "mobilenetv3", "resnet", "shufflenet_v2", "squeezenet", "timm")
FIXED = {"effective_batch_size": 66, "batch_size": 22, "early_stop": -1, "train_steps": 20, "learning_rate": 0.003}
AUGMENTED = [{"type": "random_horizontal_flip"}, {"type": "random_rotate"}, {"type": "random_brightness"}]
ROWS = 60


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of paths, the same with the bytes of the files, and the files: bright images are late."""
    home = tmp_path_factory.mktemp("images")
    draws = np.random.default_rng(0)
    rows = []
    (home / "files").mkdir()
    for number in range(ROWS):
        bright = number % 2
        image = draws.integers(0, 80, (20, 24, 3), dtype=np.uint8) + np.uint8(120 * bright)
        name = f"files/{number}.{'png' if number % 3 else 'jpg'}"
        Image.fromarray(image).save(home / name)
        rows.append({"picture": name, "late": "yes" if bright else "no", "nothing": "a.png"})
    table = pd.DataFrame(rows)
    table.to_csv(home / "rows.csv", index=False)
    table["picture"] = [(home / name).read_bytes() for name in table["picture"]]
    table.to_parquet(home / "rows.parquet")
    return home


def job(home: Path, encoder: Mapping[str, Any] = CNN, data: str = "rows.csv", **image: Any) -> dict[str, Any]:
    return {
        "dataset": str(home / data),
        "config": {
            "input_features": [{"name": "picture", "type": "image", "encoder": dict(encoder), **image}],
            "output_features": [{"name": "late", "type": "binary"}],
            "trainer": {"epochs": 3, "batch_size": 16, "learning_rate": 0.01},
        },
    }


def encoder(word: str, **fields: Any) -> tuple[Encoder, torch.Tensor]:
    """An encoder with random weights in float32, and three images for it."""
    size, own = SMALLEST[word]
    given = {"type": word, **({} if word in OWN else {"use_pretrained": False}), **own, **fields}
    config = ImageInput.model_validate({"name": "x", "encoder": given}).encoder
    statistics = {"channels": 3, "height": size, "width": size, "standardize": "imagenet1k"}
    with torch.device("meta"):
        made = ENCODERS["image", word](config, EncoderInput(statistics, 1, "config.input_features[0].encoder"))
    generator = torch.Generator().manual_seed(3)
    for module in [one for one in made.modules() if hasattr(one, "initializers")]:
        for name, initializer in module.initializers.items():
            values = torch.empty(module.get_parameter(name).shape)
            initializer.fill(values, generator)
            owner, _, local = name.rpartition(".")
            trained = module.get_parameter(name).requires_grad
            setattr(module.get_submodule(owner), local, torch.nn.Parameter(values, requires_grad=trained))
    pixels = np.random.default_rng(0).integers(0, 256, (3, 3, size, size), dtype=np.uint8)
    return made, torch.from_numpy(pixels)


def test_every_encoder_is_tested() -> None:
    assert set(SMALLEST) == set(support.ENCODERS["image"])


@pytest.mark.parametrize(
    "word", [pytest.param(word, marks=[] if word in QUICK else pytest.mark.slow) for word in SMALLEST]
)
def test_a_vector_does_not_depend_on_its_neighbours_and_all_weights_are_trained(word: str) -> None:
    made, images = encoder(word)
    found = made.train()(images)
    assert found.shape == (3, made.output_size)
    found.sum().backward()
    made.train()(images[:0]).sum().backward()  # a rank may have no rows
    assert all(one.grad is not None for one in made.parameters())
    with torch.inference_mode():
        # In float64: a random inceptionv3 has outputs of 6e6, of which float32 rounds away 17.
        whole = made.double().eval()(images)
        assert torch.isfinite(whole).all()
        scale = float(whole.abs().max())
        for at in range(3):
            torch.testing.assert_close(made(images[at : at + 1])[0] / scale, whole[at] / scale, rtol=0, atol=1e-10)


@pytest.mark.parametrize("word", ["resnet"])
def test_a_frozen_model_keeps_every_bit_of_its_parameters_and_buffers(word: str, home: Path, tmp_path: Path) -> None:
    """With weights from a folder in the layout of TORCH_HOME, which is gone when the model predicts."""
    from torchvision.models import get_model, get_model_weights

    torch.manual_seed(0)
    stored = get_model("resnet18")
    for name, buffer in stored.named_buffers():
        buffer.copy_(torch.rand(buffer.shape) + 0.5 if buffer.is_floating_point() else buffer)
        assert name
    folder = tmp_path / "weights" / "hub" / "checkpoints"
    folder.mkdir(parents=True)
    torch.save(stored.state_dict(), folder / get_model_weights("resnet18").DEFAULT.url.rpartition("/")[2])
    given = {"type": word, "model_variant": 18, "trainable": False, "model_cache_dir": str(tmp_path / "weights")}
    preprocessing = {"height": 40, "width": 40}
    train(job(home, given, preprocessing=preprocessing), output=tmp_path / "out", quiet=True)
    from safetensors.torch import load_file

    weights = load_file(tmp_path / "out" / "model" / "weights.safetensors")
    prefix = "encoders.picture.model."
    own = {name.removeprefix(prefix): one for name, one in weights.items() if name.startswith(prefix)}
    expected = {name: one for name, one in stored.state_dict().items() if not name.startswith("fc.")}
    assert set(own) == {name for name in expected if not name.endswith("num_batches_tracked")}
    assert all(torch.equal(value, expected[name]) for name, value in own.items())
    shutil.rmtree(tmp_path / "weights")
    predict(dataset=home / "rows.csv", model=tmp_path / "out", output=tmp_path / "a.parquet", quiet=True)


def test_weights_that_are_not_there_are_one_line(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from urllib.error import URLError

    def offline(*_: Any, **__: Any) -> None:
        raise URLError("no network")

    monkeypatch.setattr("torch.hub.download_url_to_file", offline)
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "none"))
    line = r"use_pretrained: true: there is no resnet18-\w+.pth in \S*/none/hub/checkpoints \(TORCH_HOME: \S*/none\)"
    with pytest.raises(Mistakes, match=line) as mistakes:
        train(job(home, {**RESNET, "use_pretrained": True}), output=tmp_path / "out", quiet=True)
    assert "\n" not in str(mistakes.value)
    assert not (tmp_path / "out").exists()


def test_paths_and_bytes_give_the_same_model_which_needs_no_files(home: Path, tmp_path: Path) -> None:
    runs = {
        name: train(job(home, data=name), output=tmp_path / name, quiet=True) for name in ("rows.csv", "rows.parquet")
    }
    assert runs["rows.csv"].test == runs["rows.parquet"].test
    assert runs["rows.csv"].test["late"]["accuracy"] > 0.9
    found = [
        predict(dataset=home / data, model=tmp_path / run, output=tmp_path / "p.parquet", quiet=True)
        for data, run in (("rows.csv", "rows.parquet"), ("rows.parquet", "rows.csv"))
    ]
    assert found[0]["late_probability"].to_pylist() == found[1]["late_probability"].to_pylist()


def test_a_changed_file_is_no_hit_of_the_cache(home: Path, tmp_path: Path) -> None:
    copied = tmp_path / "home"
    shutil.copytree(home, copied)
    for name in ("one", "two"):
        train(job(copied), output=tmp_path / name, quiet=True)
        for number in range(0, ROWS, 2):
            ending = "png" if number % 3 else "jpg"
            shutil.copy(
                copied / f"files/{number + 1}.{'png' if (number + 1) % 3 else 'jpg'}",
                copied / f"files/{number}.{ending}",
            )
    logs = [(tmp_path / name / "metrics.json").read_text() for name in ("one", "two")]
    assert '"accuracy": 1.0' in logs[0]
    assert '"accuracy": 1.0' not in logs[1]


def test_bad_files_are_counted_and_filled(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copied = tmp_path / "home"
    shutil.copytree(home, copied)
    whole = (copied / "files/6.jpg").read_bytes()
    (copied / "files/6.jpg").write_bytes(whole[: len(whole) // 2])
    (copied / "files/7.png").unlink()
    Image.fromarray(np.full((20, 24), 9, np.uint8)).save(copied / "files/8.png")
    train(job(copied), output=tmp_path / "out")
    shown = capsys.readouterr()
    lines = shown.out + shown.err
    assert "values that are no image: 2; they count as missing" in lines
    assert "paths at which there is no file: 1" in lines
    assert "files that are damaged, or no JPEG, PNG, GIF or WebP: 1" in lines
    assert "images with other channels, which are converted: 1" in lines


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"preprocessing": {"height": 8}}, "preprocessing.width: null: height and width are given together"),
        ({"preprocessing": {"num_channels": 7}}, "num_channels: 7: expected one of 1, 2, 3, 4"),
        (
            {"encoder": {"type": "stacked_cnn"}, "preprocessing": {"height": 6, "width": 6}},
            r"encoder\.kernel_size: 3: its input has 2 × 2 pixels",
        ),
        ({"encoder": {**RESNET}, "preprocessing": {"num_channels": 1}}, "the models of torchvision read 3 channels"),
        (
            {"encoder": {"type": "alexnet", "use_pretrained": False}},
            "the model cannot read 3 channels of 20 × 24 pixels",
        ),
        ({"encoder": {"type": "vit", "use_pretrained": False}}, "vit reads square images, not 20 × 24"),
        ({"column": "nothing"}, "column 'nothing' has no image in its first .* training rows: there is no file"),
    ],
)
def test_a_mistake_is_one_line(change: dict[str, Any], line: str, home: Path, tmp_path: Path) -> None:
    given = job(home)
    given["config"]["input_features"][0].update(change)
    with pytest.raises(Mistakes, match=line) as mistakes:
        train(given, output=tmp_path / "out", quiet=True)
    assert "\n" not in str(mistakes.value)


def test_a_folder_of_images_is_predicted_and_one_with_other_files_is_refused(home: Path, tmp_path: Path) -> None:
    shutil.copytree(home / "files", tmp_path / "files")
    train(job(home), output=tmp_path / "out", quiet=True)
    place = {"model": tmp_path / "out", "output": tmp_path / "p.parquet", "quiet": True}
    assert len(predict(dataset=str(tmp_path / "files"), **place)) == ROWS
    (tmp_path / "files" / "readme.txt").write_text("photographs")
    with pytest.raises(Mistakes, match=r"holds images, and 'readme\.txt', which is none: take it out"):
        predict(dataset=str(tmp_path / "files"), **place)


def test_two_workers_have_the_curve_of_one_process() -> None:
    mixer = {"type": "mlp_mixer", **SMALLEST["mlp_mixer"][1]}
    pictures = [{"encoder": CNN, "augmentation": AUGMENTED}, {"encoder": mixer}]
    assert_one_curve([Case(FIXED, picture=picture) for picture in pictures], 2)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["ddp", "fsdp"])
def test_two_workers_have_the_curve_of_one_process_with_models_of_a_library(engine: str) -> None:
    """The first steps alone: the norms of many layers on 12 × 12 pixels amplify rounding more than tenfold a step."""
    short = {**FIXED, "train_steps": 5, "learning_rate": 0.001}
    case = Case(short, picture={"encoder": RESNET}, engine=engine)
    alone = trained(case)
    for seen in on_ranks(2, trained, case):
        assert len(seen.losses) == 5
        assert seen.losses == pytest.approx(alone.losses, rel=1e-8)


@contextmanager
def rounded_weights(seed: int) -> Iterator[None]:
    """Training whose initial weights differ by the rounding of float32: 1e-7 of each."""
    original = Trainer.train

    def begin(self: Trainer) -> TrainingResult:
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for one in self._state.engine.model.parameters():
                one.mul_(1 + 1e-7 * torch.randn(one.shape, generator=generator, dtype=torch.float64))
        return original(self)

    with patch.object(Trainer, "train", begin):
        yield


def _losses(case: Case) -> np.ndarray[Any, Any]:
    return np.array(trained(case).losses)


@pytest.mark.slow
def test_in_float32_workers_differ_by_no_more_than_rounding_does_in_one_process() -> None:
    """Tens of batch norms on few pixels amplify rounding: after some steps, losses agree to no digit in either case."""
    short = {**FIXED, "precision": "float32", "train_steps": 3, "learning_rate": 0.001}
    case = Case(short, picture={"encoder": RESNET})
    alone = _losses(case)
    by_rounding = [np.abs(_losses(replace(case, mutation=partial(rounded_weights, seed))) - alone) for seed in range(3)]
    for engine in ("ddp", "fsdp"):
        [found, other] = on_ranks(2, _losses, replace(case, engine=engine))
        assert np.array_equal(found, other)
        assert found[0] == pytest.approx(alone[0], rel=1e-6)
        assert np.abs(found - alone).max() <= 10 * np.max(by_rounding)


def test_windows_and_threads_change_no_image() -> None:
    picture = {"encoder": CNN, "augmentation": AUGMENTED, "preprocessing": {"num_processes": 3}}
    alone = trained(Case(FIXED, window_rows=1000, picture=picture))
    assert alone.losses == trained(Case(FIXED, picture={**picture, "preprocessing": {}})).losses
    windows = Case(FIXED, window_rows=90, picture=picture)
    for seen in on_ranks(2, trained, windows):
        assert seen.losses == pytest.approx(trained(windows).losses, rel=1e-9)


def test_a_resumed_run_continues_to_the_bit() -> None:
    case = Case({**FIXED, "steps_per_checkpoint": 5}, stop_at=8, picture={"encoder": CNN, "augmentation": AUGMENTED})
    for whole, resumed, _ in on_ranks(2, interrupted, case):
        assert 0 < len(resumed.losses) < len(whole.losses)
        assert resumed.losses == whole.losses[-len(resumed.losses) :]
        assert all(np.array_equal(value, whole.weights[name]) for name, value in resumed.weights.items())


def test_augmentation_changes_the_training_alone() -> None:
    plain, augmented = (trained(Case(FIXED, picture={"encoder": CNN, "augmentation": one})) for one in ([], AUGMENTED))
    assert plain.losses != augmented.losses
    still = {**FIXED, "learning_rate": 1e-30}
    pair = [
        trained(Case(still, picture={"encoder": {**CNN, "conv_layers": [{}]}, "augmentation": one}))
        for one in ([], AUGMENTED)
    ]
    scores = [seen.rounds[0].scores for seen in pair]
    assert scores[0]["validation"]["delay"] == pytest.approx(scores[1]["validation"]["delay"], rel=1e-9)
    assert scores[0]["train"]["delay"] != pytest.approx(scores[1]["train"]["delay"], rel=1e-6)
