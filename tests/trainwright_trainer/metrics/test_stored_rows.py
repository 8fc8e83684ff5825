from __future__ import annotations

import sys

import pytest
import torch
from tests.page_faults import page_faults

from trainwright_trainer.metrics.stored_rows import Rows, StoredRows

_STEPS = """
import torch
from trainwright_trainer.metrics.stored_rows import StoredRows
from trainwright_trainer.runtime.allocator import keep_memory_between_steps
keep_memory_between_steps()
stored, rows = StoredRows(), []
def step():
    hidden = torch.ones(512, 256)
    for _ in range(4): hidden = hidden + 1
    new = hidden[:, :8].clone(), hidden[:, 8:16].clone(), hidden[:, 16].clone()
    {store}
"""


def rows_of(*numbers: float) -> Rows:
    logits = torch.tensor(numbers, dtype=torch.float32)
    return logits.unsqueeze(1).repeat(1, 3), logits.long(), logits.double()


def stored(rows: StoredRows) -> list[list[float]]:
    logits, targets, losses = rows.all()
    assert logits.shape == (rows.rows, 3)
    assert (logits.dtype, targets.dtype, losses.dtype) == (torch.float32, torch.int64, torch.float64)
    return [logits[:, 2].tolist(), targets.tolist(), losses.tolist()]


def test_rows_follow_each_other_also_beyond_the_first_memory() -> None:
    rows = StoredRows()
    rows.append(rows_of(1, 2), 6)
    rows.append(rows_of(3), 6)
    rows.append(rows_of(4, 5, 6, 7, 8), 6)
    assert stored(rows) == [[1, 2, 3, 4, 5, 6, 7, 8]] * 3
    assert (rows.rows, rows.values) == (8, 24)


def test_cleared_memory_takes_other_rows() -> None:
    rows = StoredRows()
    rows.append(rows_of(1, 2), 30)
    first = rows.all()[0].data_ptr()
    rows.clear()
    rows.append(rows_of(3), 30)
    assert stored(rows) == [[3]] * 3
    assert rows.all()[0].data_ptr() == first


def test_rows_with_gradients_and_those_of_an_evaluation_follow_each_other() -> None:
    rows = StoredRows()
    with torch.inference_mode():
        rows.append(rows_of(1), 30)
    logits, targets, losses = rows_of(2)
    rows.append((logits.requires_grad_(), targets, losses.requires_grad_()), 30)
    assert stored(rows) == [[1, 2]] * 3
    assert not rows.all()[0].requires_grad


def faults_of_many_steps(store: str) -> int:
    return page_faults(_STEPS.format(store=store), 20, 200)


@pytest.mark.skipif(sys.platform != "linux", reason="it is about glibc")
def test_large_tensors_of_a_step_use_the_memory_of_the_step_before() -> None:
    # The layout of the heap spares a process these faults now and then.
    assert any(faults_of_many_steps("rows.append(new)") > 5_000 for _ in range(5))
    assert faults_of_many_steps("stored.append(new, 1 << 20)") < 2_000
