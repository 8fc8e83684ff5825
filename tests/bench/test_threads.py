"""The step that is timed for the table of threads is a step of a real model, with the contract's present statistics."""

from __future__ import annotations

from bench.threads import step_of


def test_a_step_runs_and_its_parameters_are_counted() -> None:
    parameters, step = step_of(width=8, rows=4)
    step()
    assert parameters == (16 * 8 + 8) + 2 * (8 * 8 + 8) + (8 + 1)
