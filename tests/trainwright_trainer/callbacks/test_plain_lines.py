from __future__ import annotations

import errno
import io
from collections.abc import Callable
from typing import Any

import pytest

from trainwright_trainer.callbacks.events import Checkpointed, Ended, RankRound
from trainwright_trainer.callbacks.lines import data_items
from trainwright_trainer.callbacks.plain_lines import PlainProgress

Build = Callable[..., Any]


def test_a_run_in_plain_lines(clock: Any, started: Build, stepped: Build, evaluated: Build, ended: Ended) -> None:
    stream = io.StringIO()
    progress = PlainProgress(stream, clock=clock)
    progress.on_event(started())
    for rows in range(0, 200_001, 10_000):
        progress.on_event(stepped(0, rows))
        clock.now += 1.0
    progress.on_event(evaluated(0, 0.44, 0.73))
    progress.on_event(evaluated(1, 0.43, 0.74))
    progress.on_event(evaluated(2, 0.4287, 0.735, best=False))
    progress.on_event(ended)
    progress.close()
    assert stream.getvalue().splitlines() == [
        "flights: 336,776 rows · 235,712 train / 33,689 validation / 67,375 test · 14 inputs → late (binary)",
        "flights: cache hit 9f3c… · batch 1,024 · adam 0.001 · 1 process, 2 threads · best epoch by roc_auc",
        "epoch 1/20 · 63 % · 10k rows/s · 0:07:37 left",
        "epoch 1/20 · train loss 0.4450 · validation loss 0.4400 · roc_auc 0.7300 (best, epoch 1) · "
        "201k rows/s · 1.2 s",
        "epoch 2/20 · train loss 0.4350 · validation loss 0.4300 ▼ · roc_auc 0.7400 ▲ (best, epoch 2) · "
        "201k rows/s · 2.5 s",
        "epoch 3/20 · train loss 0.4337 · validation loss 0.4287 ▼ · roc_auc 0.7350 ▼ (best 0.7400, epoch 2) · "
        "201k rows/s · 3.8 s",
        "done in 31 s · best epoch 14 · test roc_auc 0.748",
    ]


@pytest.mark.parametrize(
    ("value", "shown"), [("yes", "late (binary, positive: 'yes')"), ("1", "late (binary)"), ("True", "late (binary)")]
)
def test_the_positive_value_is_shown(started: Build, value: str, shown: str) -> None:
    assert data_items(started(positive={"late": value}))[-1] == f"14 inputs → {shown}"


def test_who_holds_the_others_up_is_named_once(
    clock: Any, started: Build, evaluated: Build, ranks: tuple[RankRound, ...]
) -> None:
    stream = io.StringIO()
    progress = PlainProgress(stream, clock=clock)
    progress.on_event(started())
    for epoch in (0, 1):
        progress.on_event(evaluated(epoch, 0.44, 0.73, ranks=ranks))
    lines = stream.getvalue().splitlines()
    assert lines[3].startswith("rank 1 (flights-w-b) delays the others: its gradients take 48 ms a step")
    assert ["epoch" in line for line in lines[2:]] == [True, False, True]


def test_lines_between_rounds_come_every_15_seconds(clock: Any, started: Build, stepped: Build) -> None:
    stream = io.StringIO()
    progress = PlainProgress(stream, clock=clock)
    progress.on_event(started())
    for tenth in range(600):
        progress.on_event(stepped(0, tenth * 100))
        clock.now += 0.1
    assert len(stream.getvalue().splitlines()) == 2 + 3


def test_without_validation_only_what_is_there_is_reported(clock: Any, started: Build, evaluated: Build) -> None:
    stream = io.StringIO()
    progress = PlainProgress(stream, clock=clock)
    progress.on_event(started(split_rows={"train": 80}, validation_metric="combined.loss", cache_hit=False))
    progress.on_event(evaluated(0, 0.4, 0.7, scores={"train": {"combined": {"loss": 0.4}}}))
    assert "80 train · 14 inputs" in stream.getvalue()
    assert "cache written 9f3c…" in stream.getvalue()
    assert stream.getvalue().splitlines()[-1] == "epoch 1/20 · train loss 0.4000 · 201k rows/s · 1.2 s"


def test_several_outputs_name_the_one_that_is_watched(clock: Any, started: Build, evaluated: Build) -> None:
    stream = io.StringIO()
    progress = PlainProgress(stream, clock=clock)
    progress.on_event(started(outputs={"late": "binary", "delay": "number"}))
    progress.on_event(evaluated(0, 0.4, 0.7))
    assert "late.roc_auc 0.7000 (best, epoch 1)" in stream.getvalue()


def test_a_resume_says_where_it_goes_on(clock: Any, started: Build) -> None:
    stream = io.StringIO()
    PlainProgress(stream, clock=clock).on_event(started(attempt=2, epoch=3, step=1_200))
    assert stream.getvalue().endswith("· attempt 2 goes on from epoch 4, step 1,200\n")


def test_a_checkpoint_is_reported_only_when_it_failed(clock: Any) -> None:
    stream = io.StringIO()
    progress = PlainProgress(stream, clock=clock)
    progress.on_event(Checkpointed("0000000231-1"))
    progress.on_event(Checkpointed("0000000462-1", "the disk is full"))
    assert stream.getvalue() == "checkpoint 0000000462-1 could not be written: the disk is full\n"


def test_names_bring_no_control_characters(clock: Any, started: Build) -> None:
    stream = io.StringIO()
    PlainProgress(stream, clock=clock).on_event(started(outputs={"la\x1b[2J\nte": "binary"}))
    assert all(sign.isprintable() or sign == "\n" for sign in stream.getvalue())
    assert len(stream.getvalue().splitlines()) == 2


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), ""),
        (OSError(errno.ENOSPC, "No space left on device"), "the output cannot be written: No space left on device\n"),
    ],
)
def test_a_stream_that_refuses_a_line_does_not_stop_the_run(
    clock: Any, started: Build, capsys: pytest.CaptureFixture[str], error: OSError, line: str
) -> None:
    class Refusing(io.StringIO):
        def write(self, _text: str) -> int:
            raise error

    PlainProgress(Refusing(), clock=clock).on_event(started())
    assert capsys.readouterr().err == line


def test_a_stream_without_utf8_gets_ascii(clock: Any, started: Build) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    PlainProgress(stream, clock=clock).on_event(started())
    assert b"14 inputs > late (binary)" in raw.getvalue()
