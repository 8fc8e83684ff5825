from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

import pytest
from rich.console import Console

from trainwright_trainer.callbacks.events import Ended, RankRound
from trainwright_trainer.callbacks.terminal import TerminalProgress, _bar

Build = Callable[..., Any]


def console(width: int = 120, **options: Any) -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=width, height=20, _environ={}, **options)


def text(of: Console) -> str:
    assert isinstance(of.file, io.StringIO)
    return of.file.getvalue()


def picture(progress: TerminalProgress, now: float) -> list[str]:
    return progress._picture(now).plain.splitlines()


@pytest.fixture
def running(clock: Any, started: Build, stepped: Build, evaluated: Build) -> Callable[[int], TerminalProgress]:
    def build(width: int) -> TerminalProgress:
        progress = TerminalProgress(io.StringIO(), clock=clock, console=console(width))
        progress.on_event(started())
        progress.on_event(evaluated(1, 0.44, 0.73))
        progress.on_event(evaluated(2, 0.4287, 0.7421))
        clock.now += 0.5
        progress.on_event(stepped(3, 0))
        clock.now += 0.8
        progress.on_event(stepped(3, 160_768))
        return progress

    return build


def test_the_display_at_120_columns(running: Callable[[int], TerminalProgress], clock: Any) -> None:
    progress = running(120)
    assert picture(progress, clock.now) == [
        "epoch  4/20  ━━━━━━━━━━━━━━━━━━━━━━━━━━━─────────────  68 %"
        "   201k rows/s   0:00:01 left in epoch, 0:00:20 in all",
    ]
    progress.close()


ROUNDS = {
    80: [
        "epoch  2/20  train loss 0.4450  validation loss 0.4400  roc_auc 0.7300 best",
        "epoch  3/20  train loss 0.4337  validation loss 0.4287 ▼  roc_auc 0.7421 ▲ best",
        "epoch  4/20  train loss 0.4350  validation loss 0.4300 ▲  roc_auc 0.7400 ▼",
    ],
    200: [
        "epoch  2/20  train loss 0.4450  validation loss 0.4400  roc_auc 0.7300 best   201k rows/s",
        "epoch  3/20  train loss 0.4337  validation loss 0.4287 ▼  roc_auc 0.7421 ▲ best   201k rows/s",
        "epoch  4/20  train loss 0.4350  validation loss 0.4300 ▲  roc_auc 0.7400 ▼   201k rows/s",
    ],
    40: [
        "epoch  2/20  train loss 0.4450",
        "          validation loss 0.4400",
        "          roc_auc 0.7300 best",
    ],
}


@pytest.mark.parametrize("width", ROUNDS)
def test_finished_rounds_stay(clock: Any, started: Build, evaluated: Build, width: int) -> None:
    there = console(width, color_system=None)
    progress = TerminalProgress(io.StringIO(), clock=clock, console=there)
    progress.on_event(started())
    for event in (evaluated(1, 0.44, 0.73), evaluated(2, 0.4287, 0.7421), evaluated(3, 0.43, 0.74, best=False)):
        progress.on_event(event)
    progress.close()
    printed = [line.rstrip() for line in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text(there)).splitlines()]
    expected = ROUNDS[width]
    places = [printed.index(line) for line in expected]
    assert places == sorted(places)
    assert all(len(line) <= width for line in expected)


def test_who_holds_the_others_up_is_named_above_the_bar(
    clock: Any, started: Build, evaluated: Build, ranks: tuple[RankRound, ...]
) -> None:
    screen = console(120)
    progress = TerminalProgress(io.StringIO(), clock=clock, console=screen)
    progress.on_event(started())
    progress.on_event(evaluated(0, 0.44, 0.73, ranks=ranks))
    progress.close()
    assert text(screen).count("rank 1 (flights-w-b) delays the others") == 1


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_no_line_is_wider_than_the_terminal(running: Callable[[int], TerminalProgress], clock: Any, width: int) -> None:
    progress = running(width)
    assert max(len(line) for line in picture(progress, clock.now)) <= width
    progress.close()


def test_a_very_narrow_terminal_cuts_rather_than_wraps(running: Callable[[int], TerminalProgress], clock: Any) -> None:
    progress = running(36)
    there = console(36, color_system=None)
    lines = ["".join(part.text for part in line) for line in there.render_lines(progress._picture(clock.now))]
    assert len(lines) == len(picture(progress, clock.now))
    assert lines[-1].endswith("…")
    progress.close()


@pytest.mark.parametrize("width", [40, 60, 120])
def test_the_header_fits_with_a_long_name(clock: Any, started: Build, width: int) -> None:
    there = console(width, color_system=None)
    progress = TerminalProgress(io.StringIO(), clock=clock, console=there)
    lines = progress._header(started(name="a-name-as-long-as-kubernetes-lets-you-write-one-63-characters-long"))
    assert all(line.cell_len <= width for line in lines)
    assert lines[0].plain.startswith("a-name-")


def test_it_draws_ten_times_a_second_at_most(clock: Any, started: Build, stepped: Build) -> None:
    there = console()
    progress = TerminalProgress(io.StringIO(), clock=clock, console=there)
    progress.on_event(started())
    drawn = text(there).count("left in epoch")
    for hundredth in range(100):
        clock.now += 0.01
        progress.on_event(stepped(0, hundredth * 1024))
    assert 9 <= text(there).count("left in epoch") - drawn <= 10
    progress.close()


def test_a_step_that_is_not_drawn_costs_one_look_at_the_clock(clock: Any, started: Build, stepped: Build) -> None:
    progress = TerminalProgress(io.StringIO(), clock=clock, console=console())
    progress.on_event(started())
    looks = clock.looks
    progress.on_event(stepped(0, 1024))
    assert clock.looks == looks + 1
    progress.close()


def test_closing_twice_gives_the_cursor_back_once(clock: Any, started: Build) -> None:
    there = console()
    progress = TerminalProgress(io.StringIO(), clock=clock, console=there)
    progress.on_event(started())
    progress.close()
    progress.close()
    assert text(there).count("\x1b[?25l") == text(there).count("\x1b[?25h") == 1


def test_nothing_is_drawn_after_the_close(clock: Any, started: Build, stepped: Build) -> None:
    there = console()
    progress = TerminalProgress(io.StringIO(), clock=clock, console=there)
    progress.on_event(started())
    progress.close()
    before = text(there)
    clock.now += 10
    progress.on_event(stepped(0, 1024))
    assert text(there) == before


def test_a_line_is_printed_above_the_bar(clock: Any, started: Build) -> None:
    there = console(color_system=None)
    progress = TerminalProgress(io.StringIO(), clock=clock, console=there)
    progress.on_event(started())
    progress.show("baselines took 2 s")
    before, after = text(there).split("baselines took 2 s")
    assert before.endswith("\x1b[2K")
    assert after.startswith("\nepoch  1/20")
    progress.close()


def test_the_end_erases_the_bar_and_leaves_its_lines(
    clock: Any, started: Build, stepped: Build, evaluated: Build, ended: Ended
) -> None:
    there = console(color_system=None)
    progress = TerminalProgress(io.StringIO(), clock=clock, console=there)
    progress.on_event(started(epochs=1))
    progress.on_event(stepped(0, 235_712))
    progress.on_event(evaluated(0, 0.44, 0.73))
    progress.on_event(ended)
    assert text(there).rpartition("in all")[2].startswith("\n\x1b[?25h\r\x1b[1A\x1b[2K")
    assert text(there).rstrip("\n").endswith("done in 31 s · best epoch 14 · test roc_auc 0.748")


def test_no_color_draws_no_colour(
    clock: Any, started: Build, evaluated: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    there = Console(file=io.StringIO(), force_terminal=True, width=120, color_system="256")
    progress = TerminalProgress(io.StringIO(), clock=clock, console=there)
    progress.on_event(started())
    progress.on_event(evaluated(0, 0.44, 0.73))
    progress.close()
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", text(there))


def test_names_bring_no_escape_sequences(clock: Any, started: Build) -> None:
    there = console(color_system=None)
    progress = TerminalProgress(io.StringIO(), clock=clock, console=there)
    progress.on_event(started(outputs={"[red]late\x1b[31m": "binary"}))
    progress.close()
    assert "\x1b[31m" not in text(there)
    assert "[red]late" in text(there)


def test_a_bar_reads_without_colour() -> None:
    assert [_bar(fraction, 4).plain for fraction in (0.0, 0.13, 0.5, 1.0)] == ["────", "╸───", "━━──", "━━━━"]


@pytest.mark.parametrize(
    ("items", "lines"),
    [
        (["done in 1 s", "best epoch 2", "model out/x/model", "report out/x/report.html"], 2),
        (["done in 1 s", "model /" + 70 * "x"], 1),
        (["warning: " + 80 * "x"], 1),
    ],
)
def test_the_last_line_breaks_between_its_items(clock: Any, started: Build, items: list[str], lines: int) -> None:
    of = console(60)
    progress = TerminalProgress(io.StringIO(), clock=clock, console=of)
    progress.on_event(started())
    before = len(text(of))
    progress.on_event(Ended(1.0, 0, 5, {}, "epochs", (" · ".join(items),)))
    shown = [
        line
        for line in re.sub(r"\x1b\[[0-9;?]*\w", "", text(of)[before:]).splitlines()
        if items[0][:4] in line or "report" in line
    ]
    assert len(shown) == lines
    assert " · ".join(shown) == " · ".join(items)
