"""The loader of windows: one curve for any number of workers, and a run that goes on keeps its order anywhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.ranks import on_ranks

from trainwright_trainer import train
from trainwright_trainer.data import cache_lookup
from trainwright_trainer.data.prepared import Columns
from trainwright_trainer.errors import StoppedRun
from trainwright_trainer.loader.windowed import Windowed
from trainwright_trainer.tasks import resolve

from . import option_data
from .parity_job import Case, interrupted, trained

FIXED = {"effective_batch_size": 64, "batch_size": 64, "early_stop": -1, "train_steps": 40, "eval_batch_size": 50}
WINDOWS = Case(FIXED, window_rows=90)


def test_two_workers_have_the_curve_of_one_process_and_not_that_of_all_rows() -> None:
    alone = trained(WINDOWS)
    for seen in on_ranks(2, trained, WINDOWS):
        assert seen.losses == pytest.approx(alone.losses, rel=1e-9, abs=1e-9)
        assert seen.scores == pytest.approx(alone.scores, rel=1e-8, abs=1e-8)
    assert trained(replace(WINDOWS, window_rows=None)).losses != pytest.approx(alone.losses, rel=1e-3)


def test_one_window_has_the_curve_of_rows_in_memory_to_the_bit() -> None:
    assert trained(replace(WINDOWS, window_rows=1000)).losses == trained(replace(WINDOWS, window_rows=None)).losses


def test_a_run_goes_on_to_the_bit_and_on_another_number_of_workers() -> None:
    case = replace(WINDOWS, trainer={**FIXED, "steps_per_checkpoint": 5}, stop_at=23)
    whole, resumed, saved = on_ranks(2, interrupted, case)[0]
    for name, weight in whole.weights.items():
        assert np.array_equal(resumed.weights[name], weight), name
    alone = trained(replace(case, stop_at=None), saved[-1])
    assert len(alone.losses) == 16
    assert alone.losses == pytest.approx(whole.losses[-len(alone.losses) :], rel=1e-8)


@pytest.mark.parametrize("window_rows", [None, 90])
def test_batches_of_similar_lengths_have_one_curve_and_a_run_goes_on_to_the_bit(window_rows: int | None) -> None:
    tags = {"type": "sequence", "encoder": {"type": "embed", "embedding_size": 3}}
    trainer = {**FIXED, "bucketing_field": "tags", "steps_per_checkpoint": 5}
    case = Case(trainer, tags=tags, window_rows=window_rows, stop_at=23)
    alone = trained(replace(case, stop_at=None))
    whole, resumed, _ = on_ranks(2, interrupted, case)[0]
    assert whole.losses == pytest.approx(alone.losses, rel=1e-9, abs=1e-9)
    assert resumed.losses == whole.losses[-len(resumed.losses) :]
    plain = trained(replace(case, trainer=FIXED, stop_at=None))
    assert plain.losses != pytest.approx(alone.losses, rel=1e-3)


def job(folder: Path, **loader: Any) -> dict[str, Any]:
    return {
        "dataset": str(folder / "rows.parquet"),
        "config": {
            "input_features": [{"name": "size", "type": "number"}, {"name": "tags", "type": "set"}],
            "output_features": [{"name": "late", "type": "binary"}],
            "trainer": {"epochs": 4, "batch_size": 20},
        },
        "backend": {"loader": loader},
    }


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., tuple[bytes, dict[str, Any]]]:
    """Train, and return the weights and resolved.json."""
    option_data.write(tmp_path / "rows.parquet", 0)

    def trains(name: str, *, resume: bool = False, **loader: Any) -> tuple[bytes, dict[str, Any]]:
        train(job(tmp_path, **loader), output=tmp_path / name, quiet=True, resume=resume)
        weights = (tmp_path / name / "model" / "weights.safetensors").read_bytes()
        return weights, json.loads((tmp_path / name / "resolved.json").read_text())["resolved"]

    return trains


def test_streaming_takes_windows_that_fit_the_memory(run, monkeypatch) -> None:
    plain, resolved = run("plain")
    assert resolved["window_rows"] is None
    whole, resolved = run("whole", fully_executed=False)  # one window: the memory is larger than these rows
    assert whole == plain
    assert resolved["window_rows"] > 240
    monkeypatch.setattr("trainwright_trainer.tasks.resolve.usable_bytes", lambda: 8 * 2000)
    small, streamed = run("small", fully_executed=False)
    sized, windowed = run("sized", window_size_bytes=2000)
    assert small == sized != plain
    assert 20 < streamed["window_rows"] == windowed["window_rows"] < 60


def test_a_run_goes_on_with_its_windows_on_another_machine(run, monkeypatch) -> None:
    monkeypatch.setattr(resolve, "usable_bytes", lambda: 8 * 2000)
    whole, resolved = run("whole", fully_executed=False)
    real = Windowed.epoch

    def stops(loader: Windowed, epoch: int, from_row: int, cut: Any) -> Any:
        if epoch == 2:
            raise StoppedRun("for a test")
        return real(loader, epoch, from_row, cut)

    monkeypatch.setattr(Windowed, "epoch", stops)
    with pytest.raises(StoppedRun):
        run("parts", fully_executed=False)
    monkeypatch.setattr(Windowed, "epoch", real)
    monkeypatch.setattr(resolve, "usable_bytes", lambda: 8 * 999_000)
    resumed, after = run("parts", resume=True, fully_executed=False)
    assert after["window_rows"] == resolved["window_rows"]
    assert resumed == whole


def test_columns_in_files_train_the_same_model_and_are_never_read_as_a_whole(run, monkeypatch) -> None:
    """Large columns stay in their files; here all of them do."""
    expected, _ = run("memory", window_size_bytes=2000)
    monkeypatch.setattr(cache_lookup, "MOST_ROWS_READ", 0)
    monkeypatch.setattr(Columns, "_values", property(lambda _: pytest.fail("the columns are read as a whole")))
    found, _ = run("files", window_size_bytes=2000)
    assert found == expected
