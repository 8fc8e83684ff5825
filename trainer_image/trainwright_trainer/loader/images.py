"""The loader that decodes the images of another loader's batches, and augments those of training.

Threads work some batches ahead of the training step: they decode while the step computes. An image does not depend on
the batch that it is in, nor on the thread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt
import torch

from trainwright_trainer.loader.augmentation import Augmentation, Draws
from trainwright_trainer.loader.batch import Batch, EncodedImages, ImageColumn
from trainwright_trainer.loader.cut import Cut
from trainwright_trainer.loader.device import copied_ahead
from trainwright_trainer.loader.gpu import is_gpu
from trainwright_trainer.loader.interface import Loader

Change = Callable[[torch.Tensor, ImageColumn, npt.NDArray[np.int64]], None]
"""Changes uint8 [rows, channels, height, width] in place, given its column and the numbers of its rows."""


@dataclass(frozen=True)
class Decoded:
    """A `Loader` of the batches of `inner`, which has no device. `threads`: the most that decode."""

    inner: Loader
    seed: int
    threads: int
    device: torch.device | None = None

    def __len__(self) -> int:
        return len(self.inner)

    def epoch(self, epoch: int, from_row: int, cut: Cut) -> Iterator[Batch]:
        augment = partial(self._augment, epoch)
        return decoded_ahead(self.inner.epoch(epoch, from_row, cut), self.threads, self.device, augment)

    def sequential(self, size: int, start: int = 0, stop: int | None = None) -> Iterator[Batch]:
        return decoded_ahead(self.inner.sequential(size, start, stop), self.threads, self.device)

    def unordered(self, size: int, rows: int, first: int, last: int) -> Iterator[Batch]:
        return decoded_ahead(self.inner.unordered(size, rows, first, last), self.threads, self.device)

    def _augment(self, epoch: int, images: torch.Tensor, column: ImageColumn, rows: npt.NDArray[np.int64]) -> None:
        augment = Augmentation(column.augmentation)
        for at, row in enumerate(rows.tolist() if augment else ()):
            images[at] = augment(images[at], Draws(self.seed, epoch, row, column.position))


def decoded_ahead(
    batches: Iterator[Batch], threads: int, device: torch.device | None, change: Change | None = None
) -> Iterator[Batch]:
    """The batches in their order, on `device`, with their images decoded, and then changed by `change`.

    Each thread works on one of the next batches. Images that go to a GPU are pinned.
    """
    decode = partial(_decoded, change=change, pins=is_gpu(device))
    return copied_ahead(_decoded_by_threads(batches, threads, decode), device)


def _decoded_by_threads(batches: Iterator[Batch], threads: int, decode: Callable[[Batch], Batch]) -> Iterator[Batch]:
    with ThreadPoolExecutor(threads, thread_name_prefix="images", initializer=_compute_alone) as pool:
        ahead: deque[Future[Batch]] = deque()
        try:
            for batch in batches:
                ahead.append(pool.submit(decode, batch))
                if len(ahead) > threads:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            for waiting in ahead:
                waiting.cancel()


def _decoded(batch: Batch, *, change: Change | None, pins: bool) -> Batch:
    found = []
    for encoded in batch.images:
        assert isinstance(encoded, EncodedImages)
        images = encoded.decoded()
        if change is not None:
            change(images, encoded.column, batch.rows)
        found.append(images.pin_memory() if pins else images)
    return replace(batch, images=tuple(found))


def _compute_alone() -> None:
    """Each thread decodes with itself alone; otherwise torch would start further threads for each image."""
    torch.set_num_threads(1)
