"""Batches on this machine's GPU. `make test-gpu` runs these tests; elsewhere they are skipped."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from tests.laws.parity_job import Case, rows_of

from trainwright_trainer.loader import gpu
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.loader.cut import Cut
from trainwright_trainer.loader.device import copied_ahead, held_on
from trainwright_trainer.loader.epoch_order import EpochOrder
from trainwright_trainer.loader.materialised import Materialised

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
GPU, ORDER = torch.device("cuda"), EpochOrder(3)


@pytest.fixture(params=[gpu.SHARE, 0.0], ids=["rows on the GPU", "rows on the CPU"])
def both(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[Materialised, Materialised]:
    """The loader of a CPU, and that of the GPU."""
    monkeypatch.setattr(gpu, "SHARE", request.param)
    held = rows_of(Case(), "train")
    [there] = held_on(GPU, [held])
    assert there.floats.is_cuda == (request.param > 0)
    return Materialised(held, ORDER), Materialised(there, ORDER, GPU, ahead=True)


def assert_same(found: Iterator[Batch], expected: Iterator[Batch]) -> None:
    for one, other in zip(found, expected, strict=True):
        assert one.floats.is_cuda
        assert torch.equal(one.floats.cpu(), other.floats)
        assert torch.equal(one.ints.cpu(), other.ints)
        assert np.array_equal(one.rows, other.rows)
        for column, wanted in zip(one.ragged, other.ragged, strict=True):
            assert torch.equal(column.values.cpu(), wanted.values)
            assert torch.equal(column.offsets.cpu(), wanted.offsets)


@pytest.mark.parametrize("rows", [8, 100, 1000])
def test_epochs_have_the_batches_of_the_cpu(both: tuple[Materialised, Materialised], rows: int) -> None:
    plain, there = both
    for epoch in (0, 1, 5):
        assert_same(there.epoch(epoch, rows, Cut(rows, 1, 3)), plain.epoch(epoch, rows, Cut(rows, 1, 3)))


def test_passes_have_the_batches_of_the_cpu(both: tuple[Materialised, Materialised]) -> None:
    plain, there = both
    assert_same(there.sequential(50, 7, 300), plain.sequential(50, 7, 300))
    assert_same(there.unordered(50, 300, 1, 5), plain.unordered(50, 300, 1, 5))


def test_a_batch_stays_while_later_ones_are_copied() -> None:
    """Memory is used again only when the steps that use it have ended."""
    rows = [rows_of(Case(), "train").part(at, at + 100) for at in range(0, 300, 100)] * 40
    expected = [batch.floats.sum(dtype=torch.float64).item() for batch in rows]
    found = []
    for batch in copied_ahead(iter(rows), GPU):
        torch.cuda._sleep(1_000_000)  # type: ignore[no-untyped-call]
        found.append(batch.floats.sum(dtype=torch.float64))
        del batch
    assert [one.item() for one in found] == pytest.approx(expected)
