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

import torch

from trainwright_trainer.loader.augmentation import Augmentation, Draws
from trainwright_trainer.loader.batch import Batch, EncodedImages
from trainwright_trainer.loader.cut import Cut
from trainwright_trainer.loader.interface import Loader


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
        return self._ahead(self.inner.epoch(epoch, from_row, cut), partial(self._decoded, epoch=epoch))

    def sequential(self, size: int, start: int = 0, stop: int | None = None) -> Iterator[Batch]:
        return self._ahead(self.inner.sequential(size, start, stop), self._decoded)

    def _ahead(self, batches: Iterator[Batch], decode: Callable[[Batch], Batch]) -> Iterator[Batch]:
        """The batches in their order. Each thread works on one of the next batches."""
        threads = self.threads
        with ThreadPoolExecutor(threads, thread_name_prefix="images", initializer=_compute_alone) as pool:
            ahead: deque[Future[Batch]] = deque()
            try:
                for batch in batches:
                    ahead.append(pool.submit(decode, batch))
                    if len(ahead) > threads:
                        yield ahead.popleft().result().on(self.device)
                while ahead:
                    yield ahead.popleft().result().on(self.device)
            finally:
                for waiting in ahead:
                    waiting.cancel()

    def _decoded(self, batch: Batch, epoch: int | None = None) -> Batch:
        """The batch with its images decoded; augmented for an epoch of training."""
        columns = enumerate(batch.images)
        return replace(batch, images=tuple(self._images(at, column, batch, epoch) for at, column in columns))

    def _images(
        self, position: int, encoded: torch.Tensor | EncodedImages, batch: Batch, epoch: int | None
    ) -> torch.Tensor:
        """uint8 [rows, channels, height, width]. It is pinned if it goes to a GPU."""
        assert isinstance(encoded, EncodedImages)
        images = encoded.decoded()
        augment = Augmentation(encoded.column.augmentation)
        for at, row in enumerate(batch.rows.tolist() if augment and epoch is not None else ()):
            images[at] = augment(images[at], Draws(self.seed, epoch or 0, row, position))
        is_for_gpu = self.device is not None and self.device.type == "cuda"
        return images.pin_memory() if is_for_gpu else images


def _compute_alone() -> None:
    """Each thread decodes with itself alone; otherwise torch would start further threads for each image."""
    torch.set_num_threads(1)
