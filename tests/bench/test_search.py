"""The benchmark of a search: how long trials take to start, from the state of a search."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bench.search import CONCURRENT, starts


def test_the_start_of_a_trial_ends_with_its_first_step_and_those_of_new_workers_do_not_count(tmp_path: Path) -> None:
    folder = tmp_path / "search" / "trials"
    folder.mkdir(parents=True)
    for number in range(CONCURRENT + 2):
        begin = 10.0 * number
        scores = [{"at": begin + 0.5 + number, "seconds": 0.25}, {"at": begin + 9, "seconds": 8}]
        (folder / f"{number + 1:04d}.json").write_text(json.dumps({"at": begin, "scores": scores}))
    assert starts(tmp_path) == pytest.approx([CONCURRENT + 0.25, CONCURRENT + 1.25])
