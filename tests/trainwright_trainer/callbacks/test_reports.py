"""The reports of a train function: which are kept after a restart, the file, and the lines."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from trainwright_trainer.callbacks.console import Console
from trainwright_trainer.callbacks.events import FunctionStarted, Reported
from trainwright_trainer.callbacks.progress_snapshot import ProgressSnapshot
from trainwright_trainer.callbacks.reports import Reports, ReportsFile, reports_of
from trainwright_trainer.callbacks.tensorboard import TensorBoardLog
from trainwright_trainer.callbacks.terminal import TerminalProgress
from trainwright_trainer.rundir.attempt import Attempt
from trainwright_trainer.storage.local import FolderStorage

STARTED = FunctionStarted("digits", "train.main", 2, 1, epochs=4, metric="val_loss", checkpoint=None)


def some(count: int = 3) -> Reports:
    reports = Reports()
    for number in range(count):
        metrics = {"val_loss": 1 / (number + 1), "epoch": number}
        reports.add(float(number), metrics, f"checkpoint_{number}" if number % 2 == 0 else None)
    return reports


@pytest.mark.parametrize(("checkpoint", "kept"), [(None, 0), ("checkpoint_0", 1), ("checkpoint_2", 3), ("other", 0)])
def test_the_reports_after_the_checkpoint_are_repeated(checkpoint: str | None, kept: int) -> None:
    reports = some(4)
    reports.go_on_from(checkpoint)
    assert [report.number for report in reports.all] == list(range(1, kept + 1))
    assert reports.add(9.0, {}, None).number == kept + 1


def test_the_best_report() -> None:
    assert some().best("val_loss", "min").number == 3
    assert some().best("val_loss", "max").number == 1
    assert some().best("accuracy", "max") is None


def test_the_next_attempt_reads_the_file(tmp_path: Path) -> None:
    attempt = Attempt(FolderStorage(tmp_path), 1, 1, None, None)
    reports = some(2)
    file = ReportsFile(attempt, reports)
    file.on_event(STARTED)
    file.on_event(reports.add(3.0, {"val_loss": math.nan, "epoch": 2}, "checkpoint_2"))
    content = json.loads((tmp_path / "reports.json").read_text())
    assert (content["name"], content["attempt"], len(content["reports"])) == ("digits", 1, 3)
    assert content["reports"][2]["metrics"] == {"val_loss": None, "epoch": 2}
    again = reports_of(attempt)
    assert again.all[:2] == reports.all[:2]
    assert math.isnan(again.all[2].metrics["val_loss"])


@pytest.mark.parametrize("as_json", [False, True])
def test_the_lines(as_json: bool) -> None:
    stream = io.StringIO()
    console = Console(stream, as_json=as_json)
    console.on_event(STARTED)
    console.on_event(Reported(3, 12.0, {"loss": 0.5, "val_loss": 0.25, "epoch": 2}, "checkpoint_2"))
    first, second = stream.getvalue().splitlines()
    if as_json:
        assert json.loads(second)["metrics"] == {"loss": 0.5, "val_loss": 0.25, "epoch": 2}
    else:
        assert first == "digits: train.main on 2 workers"
        assert second == "report 3 · epoch 3/4 · loss 0.5000 · val_loss 0.2500 · checkpoint · 12 s"


def test_a_terminal_shows_the_same_lines() -> None:
    stream = io.StringIO()
    terminal = TerminalProgress(stream)
    terminal.on_event(STARTED)
    terminal.on_event(Reported(1, 2.0, {"loss": 0.5}))
    assert stream.getvalue() == "digits: train.main on 2 workers\nreport 1 · loss 0.5000 · 2.0 s\n"


def test_the_progress_for_the_operator() -> None:
    snapshot = ProgressSnapshot("train")
    snapshot.on_event(STARTED, 0.0)
    snapshot.on_event(Reported(1, 10.0, {"val_loss": 0.5, "epoch": 0}, "checkpoint_0"), 10.0)
    assert snapshot.message(10.0).eta_seconds is None
    snapshot.on_event(Reported(2, 20.0, {"val_loss": math.nan, "epoch": 1}), 20.0)
    message = snapshot.message(20.0)
    assert (message.epoch, message.epochs, message.fraction) == (2, 4, 0.5)
    assert message.eta_seconds == pytest.approx(20.0)
    assert message.last_checkpoint == "checkpoint_0"
    assert (message.metrics, message.validation_metric) == ({"epoch": 1.0}, None)
    snapshot.on_event(Reported(3, 30.0, {"val_loss": 0.25, "epoch": 2}), 30.0)
    score = snapshot.message(30.0).validation_metric
    assert score is not None
    assert (score.name, score.value) == ("val_loss", 0.25)


def test_a_function_without_epochs_has_no_fraction() -> None:
    snapshot = ProgressSnapshot("train")
    snapshot.on_event(FunctionStarted("digits", "m.f", 1, 1, None, None, None), 0.0)
    snapshot.on_event(Reported(1, 1.0, {"epoch": 0.5}), 1.0)
    message = snapshot.message(1.0)
    assert (message.fraction, message.epoch, message.metrics) == (None, None, {"epoch": 0.5})


def test_tensorboard_drops_the_repeated_reports(tmp_path: Path) -> None:
    log = TensorBoardLog(tmp_path, wall_clock=iter(range(100)).__next__)
    log.on_event(STARTED)
    for number in (1, 2):
        log.on_event(Reported(number, 1.0, {"loss": float(number)}))
    log.on_event(FunctionStarted("digits", "m.f", 1, 1, 4, None, "checkpoint_0", reports=1))
    log.on_event(Reported(2, 1.0, {"loss": 7.0}))
    log.close()
    found = EventAccumulator(str(tmp_path))
    found.Reload()
    assert [(one.step, one.value) for one in found.Scalars("loss")] == [(1, 1.0), (2, 7.0)]
