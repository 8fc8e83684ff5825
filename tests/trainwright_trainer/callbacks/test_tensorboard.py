from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from trainwright_trainer.callbacks.events import Ended, RankRound
from trainwright_trainer.callbacks.tensorboard import TensorBoardLog
from trainwright_trainer.callbacks.tensorboard_records import crc32c

Build = Callable[..., Any]


def read(folder: Path) -> EventAccumulator:
    return EventAccumulator(str(folder)).Reload()


def curve(folder: Path, tag: str) -> list[tuple[int, float]]:
    return [(event.step, round(event.value, 6)) for event in read(folder).Scalars(tag)]


def test_tensorboard_reads_what_was_written(tmp_path: Path, started: Build, evaluated: Build, ended: Ended) -> None:
    log = TensorBoardLog(tmp_path / "logs", wall_clock=lambda: 1_700_000_000.5)
    for event in (started(), evaluated(0, 0.44, 0.73), evaluated(1, 0.43, 0.74), ended):
        log.on_event(event)
    log.close()
    log.close()
    folder = tmp_path / "logs"
    assert curve(folder, "validation/late/roc_auc") == [(231, 0.73), (462, 0.74)]
    assert curve(folder, "train/combined/loss") == [(231, 0.445), (462, 0.435)]
    assert curve(folder, "rows_per_second") == [(231, 201_000.0), (462, 201_000.0)]
    assert curve(folder, "learning_rate") == [(231, 0.001), (462, 0.001)]
    assert curve(folder, "test/late/roc_auc") == [(14 * 231, 0.748)]
    assert read(folder).Scalars("learning_rate")[0].wall_time == 1_700_000_000.5


def test_the_same_figure_of_all_ranks_stands_together(
    tmp_path: Path, started: Build, evaluated: Build, ranks: tuple[RankRound, ...]
) -> None:
    log = TensorBoardLog(tmp_path)
    log.on_event(started())
    log.on_event(evaluated(0, 0.44, 0.73, ranks=ranks))
    log.close()
    for rank, own in enumerate([0.02, 0.048, 0.022]):
        assert curve(tmp_path, f"ranks/own_seconds/{rank}") == [(231, own)]
    assert curve(tmp_path, "ranks/gpu_use/1") == [(231, 0.4)]
    assert "ranks/gpu_use/2" not in read(tmp_path).Tags()["scalars"]


def test_each_round_is_on_the_disk_at_once(tmp_path: Path, started: Build, evaluated: Build) -> None:
    log = TensorBoardLog(tmp_path)
    log.on_event(started())
    log.on_event(evaluated(0, 0.44, 0.73))
    assert len(curve(tmp_path, "learning_rate")) == 1
    log.close()


def test_a_resumed_run_drops_what_it_computes_again(tmp_path: Path, started: Build, evaluated: Build) -> None:
    times = iter(range(1_700_000_000, 1_700_000_100))
    first = TensorBoardLog(tmp_path, wall_clock=lambda: next(times))
    for event in (started(), evaluated(0, 0.44, 0.73), evaluated(1, 0.43, 0.74), evaluated(2, 0.42, 0.75)):
        first.on_event(event)
    first.close()
    second = TensorBoardLog(tmp_path, wall_clock=lambda: next(times))
    second.on_event(started(attempt=2, epoch=1, step=231))
    second.on_event(evaluated(1, 0.41, 0.76))
    second.close()
    assert curve(tmp_path, "validation/late/roc_auc") == [(231, 0.73), (462, 0.76)]


def test_two_attempts_in_one_second_have_files_of_their_own(tmp_path: Path, started: Build) -> None:
    for attempt in (1, 2):
        log = TensorBoardLog(tmp_path, wall_clock=lambda: 1_700_000_000.0)
        log.on_event(started(attempt=attempt))
        log.close()
    assert len(list(tmp_path.iterdir())) == 2


def test_a_record_that_was_cut_by_a_kill_loses_itself_alone(tmp_path: Path, started: Build, evaluated: Build) -> None:
    log = TensorBoardLog(tmp_path)
    for event in (started(), evaluated(0, 0.44, 0.73), evaluated(1, 0.43, 0.74)):
        log.on_event(event)
    log.close()
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-20])
    assert len(curve(tmp_path, "learning_rate")) == 1


def test_a_score_that_is_no_number_is_left_out(tmp_path: Path, started: Build, evaluated: Build) -> None:
    log = TensorBoardLog(tmp_path)
    log.on_event(started())
    log.on_event(evaluated(0, 0.44, math.nan))
    log.close()
    assert "validation/late/roc_auc" not in read(tmp_path).Tags()["scalars"]


def test_a_score_above_those_of_float32_is_infinite(tmp_path: Path, started: Build, evaluated: Build) -> None:
    log = TensorBoardLog(tmp_path)
    log.on_event(started())
    log.on_event(evaluated(0, 0.44, -1e180))
    log.close()
    assert curve(tmp_path, "validation/late/roc_auc") == [(231, -math.inf)]


def test_the_checksum_is_that_of_rfc_3720() -> None:
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA
