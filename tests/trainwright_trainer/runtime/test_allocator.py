from __future__ import annotations

import os
import subprocess
import sys

import pytest

# Two tensors, so that the end of the heap is freed in each step.
_STEPS = """
import resource, torch
from trainwright_trainer.runtime.allocator import keep_memory_between_steps
if {keeps}: keep_memory_between_steps()
def step(): return torch.ones(5 << 20), torch.ones(5 << 20)
for _ in range(3): step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20): step()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults_of_twenty_steps(*, keeps: bool, **variables: str) -> int:
    command = [sys.executable, "-c", _STEPS.format(keeps=keeps)]
    environment = {name: value for name, value in os.environ.items() if "MALLOC" not in name} | variables
    return int(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="it is about glibc")
def test_a_step_uses_the_memory_of_the_step_before() -> None:
    assert faults_of_twenty_steps(keeps=False) > 20_000
    assert faults_of_twenty_steps(keeps=True) < 1_000


@pytest.mark.skipif(sys.platform != "linux", reason="it is about glibc")
def test_another_choice_of_the_user_stands() -> None:
    assert faults_of_twenty_steps(keeps=True, MALLOC_TRIM_THRESHOLD_="0") > 20_000
