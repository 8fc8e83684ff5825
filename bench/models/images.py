"""Images: our loader beside torch's DataLoader, what augmentation costs a step, and the memory of many images."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator, Sequence
from importlib import import_module
from io import BytesIO
from typing import Any

import numpy as np
import pyarrow as pa
import torch

from bench.models.sides import ratio
from bench.process import BUILD, measure, trainwright
from bench.results import Result, result
from trainwright_api.config.augmentation import RandomBrightness, RandomHorizontalFlip
from trainwright_trainer.features.pixels import ImageShape
from trainwright_trainer.loader.batch import EncodedImages, ImageColumn
from trainwright_trainer.loader.cut import Cut
from trainwright_trainer.loader.encoded_rows import EncodedRows
from trainwright_trainer.loader.epoch_order import EpochOrder
from trainwright_trainer.loader.images import Decoded
from trainwright_trainer.loader.interface import Loader
from trainwright_trainer.loader.materialised import Materialised

FOLDER = BUILD / "images"
SIDE, IMAGES, BATCH, ROUNDS = 224, 768, 32, 7
COUNTS = (4_000, 8_000)
STEP = 1.5
"""The time of a simulated step, as a multiple of the time that one thread needs for the images of a batch."""


def jpegs(count: int) -> list[bytes]:
    """Parts of scikit-learn's two photographs, of about 320 × 400 pixels."""
    from PIL import Image
    from sklearn.datasets import load_sample_images

    draws, found = np.random.default_rng(0), []
    photographs = load_sample_images().images
    for number in range(count):
        photograph = photographs[number % 2]
        top, left = (draws.integers(0, photograph.shape[axis] - size + 1) for axis, size in ((0, 320), (1, 400)))
        file = BytesIO()
        Image.fromarray(photograph[top : top + 320, left : left + 400]).save(file, "jpeg", quality=90)
        found.append(file.getvalue())
    return found


class Photographs(torch.utils.data.Dataset[torch.Tensor]):
    """What one writes with torchvision: decode, resize, flip, change the brightness."""

    def __init__(self, files: Sequence[bytes]) -> None:
        self._files = [torch.frombuffer(bytearray(file), dtype=torch.uint8) for file in files]
        transforms: Any = import_module("torchvision.transforms.v2")
        self._change = transforms.Compose(
            [
                transforms.Resize((SIDE, SIDE), antialias=True),
                transforms.RandomHorizontalFlip(),
                transforms.ColorJitter(brightness=(0.5, 2.0)),
            ]
        )
        self._decode: Any = import_module("torchvision.io").decode_jpeg

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, at: int) -> torch.Tensor:
        return torch.as_tensor(self._change(self._decode(self._files[at])))


def theirs(files: Sequence[bytes]) -> Iterator[Any]:
    """Each call of `next` is an epoch of torch's DataLoader with one worker, which lives on."""
    loader = torch.utils.data.DataLoader(
        Photographs(files), BATCH, shuffle=True, num_workers=1, persistent_workers=True
    )
    while True:
        yield iter(loader)


def ours(files: Sequence[bytes], *, augments: bool = True) -> Loader:
    """Our loader with one thread."""
    changes = (RandomHorizontalFlip(), RandomBrightness(min=0.5, max=2.0)) if augments else ()
    column = ImageColumn(ImageShape(3, SIDE, SIDE, "interpolate"), changes, threads=1)
    images = EncodedImages(pa.array(files, pa.large_binary()), column)
    rows, nothing = np.arange(len(files)), torch.zeros(len(files), 0)
    held = EncodedRows(nothing, nothing.to(torch.int64), rows, images=(images,))
    return Decoded(Materialised(held, EpochOrder(0)), 0, 1)


def _seconds(batches: Iterator[Any], step: float = 0.0) -> float:
    """The time that an epoch takes beside the steps."""
    began, steps = time.perf_counter(), 0
    for _ in batches:
        time.sleep(step)
        steps += 1
    return time.perf_counter() - began - steps * step


def speed() -> dict[str, Result]:
    """Images per second of one worker."""
    files = jpegs(IMAGES)
    epochs, loader, cut = theirs(files), ours(files), Cut(BATCH)
    _seconds(next(epochs))  # the worker starts
    value = ratio(
        lambda: _seconds(loader.epoch(0, 0, cut)),
        lambda: _seconds(next(epochs)),
        ROUNDS,
    )
    own = IMAGES / _seconds(loader.epoch(0, 0, cut))
    return {
        "images: one worker": result(value, "× DataLoader's images/s", "≥ 1.1"),
        "images: one worker, ours": result(own, "images/s"),
    }


def overlap() -> dict[str, Result]:
    """The share of a step in which it waits for its augmented images, beside a device whose step takes longer."""
    loader, cut = ours(jpegs(IMAGES)), Cut(BATCH)
    shares = []
    for _ in range(ROUNDS):
        alone = _seconds(loader.epoch(0, 0, cut)) / (IMAGES / BATCH)
        step = STEP * alone
        waited = _seconds(loader.epoch(0, 0, cut), step) - alone  # the first batch of an epoch has nothing beside it
        shares.append(100 * waited / (step * IMAGES / BATCH))
    return {"images: augmentation beside a step": result(float(np.median(shares)), "% of the step", "≤ 5")}


def memory() -> dict[str, Result]:
    """The peak memory of whole runs that read windows, with `COUNTS` images of 150 kB each."""
    from PIL import Image

    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    draws = np.random.default_rng(0)
    for number in range(64):
        pixels = draws.integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(FOLDER / f"{number}.png", compress_level=0)
    peaks: dict[str, dict[int, float]] = {"empty": {}, "warm": {}}
    for count in COUNTS:
        rows = "\n".join(f"{number % 64}.png,{number % 2}" for number in range(count))
        (FOLDER / "rows.csv").write_text(f"path,y\n{rows}\n")
        (FOLDER / "job.json").write_text(json.dumps(_job()))
        command = trainwright("train", str(FOLDER / "job.json"), "--output", str(FOLDER / "out"), "--overwrite")
        shutil.rmtree(FOLDER / "cache", ignore_errors=True)
        for cache, found in peaks.items():
            found[count] = measure(command).peak_mib
            print(cache, count, found[count], flush=True)
    shutil.rmtree(FOLDER)
    few, many = COUNTS
    return {
        **{
            f"{few:,} → {many:,} images of 150 kB: peak memory, {cache} cache": result(
                found[many] / found[few], "×", "≤ 1.1"
            )
            for cache, found in peaks.items()
        },
        f"{many:,} images of 150 kB: peak memory, empty cache": result(peaks["empty"][many], "MiB"),
    }


def _job() -> dict[str, Any]:
    encoder = {"type": "stacked_cnn", "conv_layers": [{"out_channels": 2, "stride": 8}], "output_size": 4}
    return {
        "dataset": str(FOLDER / "rows.csv"),
        "config": {
            "input_features": [{"name": "path", "type": "image", "encoder": encoder}],
            "output_features": [{"name": "y", "type": "binary"}],
            "trainer": {"epochs": 1, "batch_size": 64},
        },
        "backend": {
            "type": "local",
            "cache_dir": str(FOLDER / "cache"),
            "loader": {"fully_executed": False, "window_size_bytes": 30_000_000},
        },
    }
