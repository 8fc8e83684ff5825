from __future__ import annotations

import sys

import pytest
from tests.page_faults import page_faults

# Two tensors, so that the end of the heap is freed in each step.
_STEPS = """
import torch
from trainwright_trainer.runtime.allocator import keep_memory_between_steps
if {keeps}: keep_memory_between_steps()
def step(): return torch.ones(5 << 20), torch.ones(5 << 20)
"""


def faults_of_twenty_steps(*, keeps: bool, **variables: str) -> int:
    return page_faults(_STEPS.format(keeps=keeps), 3, 20, **variables)


@pytest.mark.skipif(sys.platform != "linux", reason="it is about glibc")
def test_a_step_uses_the_memory_of_the_step_before() -> None:
    assert faults_of_twenty_steps(keeps=False) > 20_000
    assert faults_of_twenty_steps(keeps=True) < 1_000


@pytest.mark.skipif(sys.platform != "linux", reason="it is about glibc")
def test_another_choice_of_the_user_stands() -> None:
    assert faults_of_twenty_steps(keeps=True, MALLOC_TRIM_THRESHOLD_="0") > 20_000
