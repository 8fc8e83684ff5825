"""A trained model with the encoded rows of a data set: the subject of the analyses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import torch

from trainwright_api.config import ModelConfig
from trainwright_trainer.data.columnfile import GROUP_ROWS
from trainwright_trainer.data.order import Purpose, hashes, key
from trainwright_trainer.data.prepared import Prepared
from trainwright_trainer.decoders.outputs import Logits
from trainwright_trainer.loader.batch import Batch, Layout
from trainwright_trainer.loader.by_length import passes
from trainwright_trainer.loader.encoded_rows import EncodedRows, encoded_rows
from trainwright_trainer.loader.layout import layout_of
from trainwright_trainer.metrics.model import ModelMetrics, model_metrics
from trainwright_trainer.models.model import DTYPES, Model
from trainwright_trainer.models.trainable import Tensors

MOST_GROUPS = 8
"""Row groups of the cache that a sample is drawn from, so that a large data set is not read completely."""
COST = 1 << 31
"""Parameters × rows of a sample: 2,000 rows of a million parameters."""
PIXELS = 1 << 25
"""Pixel values of a sample: 128 MiB in float32, 220 photographs of 224 × 224."""
LEAST_ROWS = 100

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Subject:
    """`pass_rows`: the most rows of a forward pass. `seed`: the one of the run; it decides the samples."""

    model: Model
    config: ModelConfig
    data: Prepared
    seed: int
    pass_rows: int
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))

    def affordable(self, most: int) -> int:
        """The number of rows of a sample: `most`, or fewer of a large model or with images. It depends on no clock."""
        parameters = sum(parameter.numel() for parameter in self.model.parameters())
        shapes = [image.shape for image in layout_of(self.config, self.data.statistics).images]
        pixels = sum(shape.channels * shape.height * shape.width for shape in shapes)
        bound = min(COST // max(parameters, 1), PIXELS // max(pixels, 1))
        return int(np.clip(bound, LEAST_ROWS, max(most, LEAST_ROWS)))

    def sample(self, part: int, most: int) -> Batch | None:
        """At most `most` rows of a part, drawn by the seed, in an order that it decides too. None without rows."""
        rows = self.data.rows_of(part)
        groups = np.unique(rows // GROUP_ROWS)
        if len(groups) > MOST_GROUPS:
            some = groups[np.linspace(0, len(groups) - 1, MOST_GROUPS).astype(np.int64)]
            rows = rows[np.isin(rows // GROUP_ROWS, some)]
        if not len(rows):
            return None
        drawn = np.argsort(hashes(key(self.seed, Purpose.REPORT, part), rows), kind="stable")[:most]
        chosen = np.sort(drawn)
        order = np.argsort(np.argsort(drawn))
        return self._encoded(rows[chosen]).take(order).on(self.device)

    def batch(self, rows: Rows) -> Batch:
        """The rows with these numbers, which ascend."""
        return self._encoded(rows).part(0, len(rows)).on(self.device)

    def dense(self, rows: Rows) -> Batch:
        """The same without images, which take too much memory for many rows."""
        layout = layout_of(self.config, self.data.statistics)
        columns = {name: place for name, place in layout.columns.items() if place.kind != "images"}
        return self._encoded(rows, replace(layout, columns=columns, images=())).part(0, len(rows))

    def results(self, batch: Batch) -> Iterator[tuple[Tensors, Tensors, Batch]]:
        """The logits and the losses of the rows, part by part, in any order. The model is in evaluation mode."""
        self.model.eval()
        with torch.inference_mode():
            for part in self._passes(batch):
                logits = self.model(part)
                yield logits, self.model.losses(logits, part), part

    def predictions(self, batch: Batch) -> Iterator[tuple[Logits, Batch]]:
        """The logits of the rows without a look at their targets, part by part, in any order."""
        self.model.eval()
        with torch.inference_mode():
            for part in self._passes(batch):
                yield self.model.predict(part), part

    def _passes(self, batch: Batch) -> Iterator[Batch]:
        """Parts of the rows. With ragged columns, they are in the order of their lengths."""
        if batch.ragged:
            yield from map(batch.take, passes(batch.total_lengths(), self.pass_rows))
            return
        for start in range(0, len(batch.rows), self.pass_rows):
            yield batch.part(slice(start, start + self.pass_rows))

    def new_metrics(self) -> ModelMetrics:
        return model_metrics(self.config, self.data.statistics)

    def _encoded(self, rows: Rows, layout: Layout | None = None) -> EncodedRows:
        layout = layout or layout_of(self.config, self.data.statistics)
        return encoded_rows(self.data, layout, DTYPES[self.config.trainer.precision], rows)
