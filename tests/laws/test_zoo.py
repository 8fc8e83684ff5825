"""The laws of every encoder, combiner and decoder, by the real `train`: a new name in a registry is new tests here."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.ranks import on_launched

from trainwright_trainer import train
from trainwright_trainer.api import load

from .test_images import OWN
from .tiny_text import make_home
from .zoo import Watched, free_memory, losses, vectors, watching, weights_of
from .zoo_jobs import FREEZING, ROWS, TRAINING, Part, job_of, parts, write_rows

CORE = (
    *("encoder-category-dense", "encoder-text-rnn", "encoder-text-bert", "encoder-image-stacked_cnn"),
    *("encoder-image-mnasnet", "combiner-tabnet", "decoder-sequence-generator"),
)
CORE_ON_TWO = ("encoder-text-bert", "encoder-image-mnasnet")
IN_FLOAT32 = ("alexnet", "longformer", "vgg", "vit")
"""Encoders that two ranks train in float32 here: with more than 50 million weights they need gigabytes as it is, and
the library's Longformer computes softmax in float32, in which its mask of float64 has no finite gradient. `wide_resnet`
is as large, but its batch norm spreads the rounding of float32 (docs/design.md).
"""
PARTS = parts()
FROZEN = [(part, name) for part in PARTS for name in part.freezing]


def _marks(part: Part, core: Sequence[str] = CORE) -> list[pytest.MarkDecorator]:
    return [] if str(part) in core else [pytest.mark.slow]


EACH = [pytest.param(part, id=str(part), marks=_marks(part)) for part in PARTS]
EACH_ON_TWO = [pytest.param(part, id=str(part), marks=_marks(part, CORE_ON_TWO)) for part in PARTS]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = make_home(tmp_path_factory.mktemp("zoo"), drops=False)
    write_rows(home / "rows.parquet")
    return home


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder that is removed, as is the model from memory, because the models of all tests are gigabytes."""
    yield tmp_path
    shutil.rmtree(tmp_path)
    free_memory()


def trainable(part: Part) -> Mapping[str, Any]:
    return {"trainable": True} if "trainable" in part.freezing else {}


@pytest.mark.parametrize("part", EACH)
@pytest.mark.filterwarnings("ignore:rows.parquet.*:UserWarning")
def test_a_saved_model_predicts_to_the_bit_and_a_row_does_not_depend_on_others(
    part: Part, home: Path, folder: Path
) -> None:
    with watching() as seen:
        train(job_of(part, home, trainable(part)), output=folder / "out", quiet=True)
    model = seen.model.eval()
    own = {name for name, one in model.named_parameters() if one.requires_grad and name.startswith(part.prefix)}
    assert part.role != "encoder" or not own or own & seen.changed()
    saved = load(folder / "out")
    found, expected = (
        replace(saved, saved=replace(saved.saved, model=one)).predict(str(home / "rows.parquet"))
        for one in (saved.saved.model, model)
    )
    assert found.num_rows == ROWS
    assert found.equals(expected)
    assert_rows_stand_alone(part, seen)


def assert_rows_stand_alone(part: Part, seen: Watched) -> None:
    """In other batches, and alone, where no other row pads it, in float32: to 1e-6 of the largest value.

    Many layers round to 5e-6; test_images.py and test_sequence_types.py compare these encoders in float64.
    """
    is_deep = part.word == "stacked_cnn" if part.kind != "image" else part.word not in OWN
    tolerance = 1e-5 if part.role == "encoder" and is_deep else 1e-6
    rows = seen.loaders["train"]
    whole, *others = (
        [row for batch in rows.sequential(size) for row in vectors(part, seen.model, batch)]
        for size in (TRAINING, 5, 1)
    )
    scale = max(float(row.abs().max()) for row in whole if row.numel())
    for other in others:
        for found, expected in zip(other, whole, strict=True):
            torch.testing.assert_close(found / scale, expected / scale, rtol=0, atol=tolerance)


@pytest.mark.parametrize(
    ("part", "name"), [pytest.param(part, name, id=f"{part}-{name}", marks=_marks(part)) for part, name in FROZEN]
)
def test_a_frozen_encoder_keeps_every_bit_of_its_parameters_and_buffers(
    part: Part, name: str, home: Path, folder: Path
) -> None:
    with watching() as seen:
        train(job_of(part, home, {name: False}), output=folder / "out", quiet=True)
    changed, weights = seen.changed(), weights_of(folder / "out")
    assert any(one.startswith("decoders.") for one in changed)
    frozen = {one for one in seen.before if one.startswith(part.prefix) and FREEZING[name] in one}
    assert not changed & frozen
    assert all(torch.equal(weights[one], seen.before[one]) for one in frozen & set(weights))


@pytest.mark.parametrize("part", EACH_ON_TWO)
@pytest.mark.parametrize("strategy", ["ddp", pytest.param("fsdp", marks=pytest.mark.slow)])
def test_two_workers_train_as_one_process(part: Part, strategy: str, home: Path, folder: Path) -> None:
    is_rounded = part.kind in ("image", "text") and part.word in IN_FLOAT32
    precision, tolerance = ("float32", 1e-4) if is_rounded else ("float64", 1e-8)
    job = job_of(part, home, trainable(part), precision=precision, batch_size=4, effective_batch_size=8)
    expected = losses(job, folder / "alone")
    job["backend"] = {"type": "ray", "trainer": {"strategy": strategy}}
    for found in on_launched(2, losses, job, folder / "two"):
        assert found == pytest.approx(expected, rel=tolerance)
    weights, others = weights_of(folder / "alone"), weights_of(folder / "two")
    for name, one in weights.items():
        torch.testing.assert_close(others[name], one, rtol=tolerance, atol=tolerance, msg=name)
