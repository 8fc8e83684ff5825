"""Too little memory gives a one-line environment error, or a smaller batch if `batch_size` is auto."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.faults.conftest import LONGEST

ENVIRONMENT = 3
MIB = 1 << 20
# glibc then maps each tensor apart. In its heap, one that fitted before may find no room between the smaller ones.
NO_FRAGMENTS = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_ARENA_MAX": "1"}


def searched(spec, width):
    spec["config"]["combiner"].update(output_size=width, num_fc_layers=2)
    spec["config"]["trainer"].update(batch_size="auto", train_steps=2)


@pytest.mark.parametrize("mebibytes", [100, 400])
def test_the_search_for_a_batch_size_finds_one_that_fits(mebibytes):
    """Every row takes at least 1 MiB in a step, and at most 2,000 rows are tried."""
    program = [sys.executable, Path(__file__).with_name("narrow_search.py"), str(mebibytes)]
    environment = {**os.environ, **NO_FRAGMENTS}
    done = subprocess.run(program, capture_output=True, text=True, timeout=LONGEST, env=environment)
    assert done.returncode == 0, done.stderr
    assert 8 <= int(done.stdout) <= mebibytes


def test_a_model_too_large_for_the_search_ends_in_one_line(place, lines):
    run = place(lambda spec: searched(spec, 8192))
    child = run.start(limits={"AS": 700 * MIB})
    assert child.wait() == ENVIRONMENT, child.errors
    [line] = lines(child.errors)
    assert "memory" in line
    assert run.outcome(1) is None or run.outcome(1)["class"] == "environment"


def test_a_model_too_large_for_training_ends_in_one_line(place, lines):
    run = place(lambda spec: spec["config"]["combiner"].update(output_size=8192))
    child = run.start(limits={"AS": 700 * MIB})
    assert child.wait() == ENVIRONMENT, child.errors
    [line] = lines(child.errors)
    assert "memory" in line


def test_a_process_that_may_start_no_thread_ends_in_one_line(place, lines):
    run = place()
    child = run.start(limits={"AS": 4 * MIB})
    assert child.wait() == ENVIRONMENT, child.errors
    [line] = lines(child.errors)
    assert "memory" in line
    assert not run.run.exists()
