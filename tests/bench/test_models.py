"""The two sides of the benchmark of the model zoo do the same work."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
import torch
from bench.models import embeddings, families, images, text
from bench.models.sides import WARM_UP, seconds_per_step

from trainwright_trainer.loader.cut import Cut
from trainwright_trainer.loader.layout import layout_of
from trainwright_trainer.models.model import Model


@pytest.mark.parametrize("name", families.FAMILIES)
def test_both_sides_have_the_same_parameters_and_read_the_same_batches(name: str) -> None:
    made, known, batches, bare, logits = families.FAMILIES[name](rows=4)
    model = Model(made, known, layout_of(made, known), 0)
    assert sum(one.numel() for one in model.parameters()) == sum(one.numel() for one in bare.parameters())
    assert logits(batches[0]).shape == (4, families.CLASSES)
    assert len(batches) == families.STEPS


def test_the_bound_of_a_cold_run() -> None:
    assert embeddings.bound(3, 50) == pytest.approx(2.887, abs=1e-3)
    assert embeddings.bound(10, 50) == pytest.approx(8.5)
    assert embeddings.bound(1, 50) == 1  # one epoch encodes each row once, with the cache and without


def test_steps_of_the_warm_up_do_not_count() -> None:
    assert seconds_per_step([*[0.0] * WARM_UP, 10.0, 12.0, 14.0]) == 2.0


def test_most_texts_are_short_and_each_names_its_class(tmp_path: Path) -> None:
    texts = text.write(tmp_path / "t.parquet", 300)
    words = [len(one.split()) for one in texts]
    assert max(words) > 2 * sum(words) / len(words)
    labels = pq.read_table(tmp_path / "t.parquet")["label"].to_pylist()
    assert {(label, one.split()[0]) for label, one in zip(labels, texts, strict=True)} == {
        (f"class {at}", word) for at, word in enumerate(["north", "south", "east", "west"])
    }


@pytest.mark.filterwarnings("ignore:The image decoding and encoding capabilities")
def test_both_loaders_decode_the_same_pixels() -> None:
    files = images.jpegs(3)
    (batch,) = images.ours(files, augments=False).sequential(3)
    dataset = images.Photographs(files)
    resize = dataset._change.transforms[0]
    for own, file in zip(batch.images[0], dataset._files, strict=True):
        assert torch.equal(own, resize(dataset._decode(file)))
    assert sum(len(one.rows) for one in images.ours(files).epoch(0, 0, Cut(2))) == 3
