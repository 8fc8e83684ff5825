from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
import pytest
import torch

from trainwright_trainer.loader.batch import Batch, Ragged
from trainwright_trainer.loader.by_length import PASS_STEPS, by_length, passes

ROWS = 150
LENGTHS = np.random.default_rng(0).integers(0, 30, ROWS)
BOUNDS = np.concatenate([[0], np.cumsum(LENGTHS)])
WHOLE = Batch(
    torch.arange(float(ROWS)).unsqueeze(1),
    torch.empty(ROWS, 0, dtype=torch.int64),
    np.arange(ROWS),
    (Ragged.of(np.repeat(np.arange(ROWS), LENGTHS), BOUNDS),),
)


def read(size: int, start: int, stop: int) -> Iterator[Batch]:
    return (WHOLE.part(slice(first, min(first + size, stop))) for first in range(start, stop, size))


@pytest.mark.parametrize("rows", [0, 1, 7, 148, 150])
def test_batches_hold_each_row_once_with_its_values(rows: int) -> None:
    batches = list(by_length(read, 8, rows, 0, -(-rows // 8)))
    assert [len(batch.rows) for batch in batches] == [min(8, rows - start) for start in range(0, rows, 8)]
    assert sorted(chain.from_iterable(batch.rows.tolist() for batch in batches)) == list(range(rows))
    for batch in batches:
        assert batch.floats[:, 0].tolist() == batch.rows.tolist()
        assert batch.ragged[0].values.tolist() == np.repeat(batch.rows, LENGTHS[batch.rows]).tolist()


def test_rows_of_a_group_are_sorted_by_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trainwright_trainer.loader.by_length._GROUP_ROWS", 40)
    found = [row for batch in by_length(read, 10, ROWS, 0, 15) for row in batch.rows]
    for start in range(0, ROWS, 40):
        group = found[start : start + 40]
        assert sorted(group) == list(range(start, min(start + 40, ROWS)))
        assert sorted(LENGTHS[group], reverse=True) == LENGTHS[group].tolist()


@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_a_batch_does_not_depend_on_the_ranks(ranks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trainwright_trainer.loader.by_length._GROUP_ROWS", 40)
    alone = [batch.rows.tolist() for batch in by_length(read, 8, 148, 0, 19)]
    edges = [19 * rank // ranks for rank in range(ranks + 1)]
    shares = [by_length(read, 8, 148, *edges[rank : rank + 2]) for rank in range(ranks)]
    assert [batch.rows.tolist() for batch in chain.from_iterable(shares)] == alone


@pytest.mark.parametrize("lengths", [[], [5], [0, 0], [3, 9_000, 1, 20_000, 9_000], list(range(1, 600))])
def test_each_row_is_in_one_pass_of_limited_size(lengths: list[int]) -> None:
    found = list(passes(np.array(lengths, np.int64), 256))
    assert sorted(place for places in found for place in places) == list(range(len(lengths)))
    longest = [max(lengths[place] for place in places) for places in found]
    assert longest == sorted(longest, reverse=True)
    for places, most in zip(found, longest, strict=True):
        assert len(places) <= 256
        assert len(places) == 1 or len(places) * most <= PASS_STEPS
