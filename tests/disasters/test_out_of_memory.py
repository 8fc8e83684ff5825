"""Too little memory is the machine's fault: one line, or a smaller batch where the size may be chosen."""

from __future__ import annotations

import json

ENVIRONMENT = 3
MIB = 1 << 20


def searched(spec, width, layers=2):
    spec["config"]["combiner"].update(output_size=width, num_fc_layers=layers)
    spec["config"]["trainer"].update(batch_size="auto", train_steps=2)


def test_the_search_for_a_batch_size_finds_one_that_fits(place):
    """One layer, few inputs: 3 MB of weights, and in every step 2 MB for each row, of which 128 may be tried."""
    run = place(lambda spec: searched(spec, 1 << 16, layers=1))
    child = run.start(limits={"AS": 350 * MIB})
    assert child.wait() == 0, child.errors
    size = json.loads((run.run / "resolved.json").read_text())["resolved"]["batching"]["global_rows"]
    assert 1 <= size < 128


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
