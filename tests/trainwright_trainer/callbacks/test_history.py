from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest

from trainwright_trainer.callbacks.events import Ended, RankRound
from trainwright_trainer.callbacks.history import History
from trainwright_trainer.rundir.layout import FORMAT

Build = Callable[..., Any]


def history_of(*events: Any) -> History:
    history = History()
    for event in events:
        history.on_event(event)
    history.close()
    return history


def test_metrics_json_is_what_the_protocol_says(started: Build, evaluated: Build, ended: Ended) -> None:
    history = history_of(
        started(), evaluated(0, 0.44, 0.73), evaluated(1, 0.43, 0.74), evaluated(2, 0.43, 0.72, best=False)
    )
    content = history.to_json()
    assert {key: content[key] for key in ("format", "attempt", "name", "validation_metric", "best", "end")} == {
        "format": FORMAT,
        "attempt": 1,
        "name": "flights",
        "validation_metric": "late.roc_auc",
        "best": {"epoch": 1, "step": 462},
        "end": None,
    }
    assert content["split_rows"]["test"] == 67_375
    assert content["rounds"][0] == {
        "attempt": 1,
        "epoch": 0,
        "step": 231,
        "seconds": 1.25,
        "rows_per_second": 201_000.0,
        "learning_rate": 0.001,
        "scores": {
            "train": {"combined": {"loss": 0.445}, "late": {"loss": 0.445}},
            "validation": {"combined": {"loss": 0.44}, "late": {"loss": 0.44, "roc_auc": 0.73}},
        },
        "best": True,
        "ranks": [],
        "straggler": None,
    }
    history.on_event(ended)
    assert history.to_json()["end"] == {
        "seconds": 31.2,
        "best_epoch": 13,
        "best_step": 3234,
        "test": {"late": {"roc_auc": 0.748}},
        "reason": "epochs",
        "lines": ["done in 31 s · best epoch 14 · test roc_auc 0.748"],
        "baseline": {},
    }


def test_a_round_trip_through_json_keeps_every_round(started: Build, evaluated: Build) -> None:
    before = history_of(started(), evaluated(0, 0.44, 0.73), evaluated(1, 0.43, 0.74))
    after = History.from_json(json.loads(json.dumps(before.to_json(), allow_nan=False)))
    assert list(after.rounds) == list(before.rounds)


def test_what_each_rank_measured_stays_with_its_round(
    started: Build, evaluated: Build, ranks: tuple[RankRound, ...]
) -> None:
    history = history_of(started(), evaluated(0, 0.44, 0.73, ranks=ranks))
    content = json.loads(json.dumps(history.to_json(), allow_nan=False))
    row = content["rounds"][0]
    assert row["straggler"] == 1
    assert row["ranks"][2] == {
        "rank": 2,
        "host": "flights-w-c",
        "step_seconds": 0.05,
        "own_seconds": 0.022,
        "loader_seconds": 0.001,
        "memory_bytes": 813_000_000,
        "gpu_memory_bytes": 1_500_000_000,
        "gpu_use": None,
    }
    assert History.from_json(content).rounds == history.rounds


def test_nan_is_null_in_the_file_and_nan_again(started: Build, evaluated: Build) -> None:
    content = json.loads(json.dumps(history_of(started(), evaluated(0, 0.44, math.nan)).to_json(), allow_nan=False))
    assert content["rounds"][0]["scores"]["validation"]["late"]["roc_auc"] is None
    assert math.isnan(History.from_json(content).rounds[0].scores["validation"]["late"]["roc_auc"])


def test_a_resume_drops_the_rounds_past_its_checkpoint(started: Build, evaluated: Build) -> None:
    first = history_of(started(), *(evaluated(epoch, 0.44, 0.73) for epoch in range(4)))
    second = History.from_json(first.to_json())
    second.on_event(started(attempt=2, epoch=2, step=462))
    second.on_event(evaluated(2, 0.42, 0.75))
    rows = second.to_json()["rounds"]
    assert [(row["attempt"], row["step"]) for row in rows] == [(1, 231), (1, 462), (2, 693)]


def test_a_round_that_is_computed_again_replaces_itself(started: Build, evaluated: Build) -> None:
    history = history_of(started(), evaluated(0, 0.44, 0.73), evaluated(0, 0.44, 0.74))
    assert [round_.scores["validation"]["late"]["roc_auc"] for round_ in history.rounds] == [0.74]


def test_without_rounds_there_is_no_best(started: Build) -> None:
    assert history_of(started()).to_json()["best"] is None


def test_before_the_start_there_is_nothing_to_write() -> None:
    with pytest.raises(ValueError, match="attempt"):
        History().to_json()
