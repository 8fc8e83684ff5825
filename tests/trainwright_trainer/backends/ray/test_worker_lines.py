"""The lines that a worker prints: whole ones, named by rank, without the states of progress bars."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from trainwright_trainer.backends.ray.worker_lines import WorkerLines


def written(rank: int, write: Callable[[WorkerLines], None]) -> list[str]:
    seen: list[str] = []
    lines = WorkerLines(rank, seen.append)
    write(lines)
    lines.finish()
    return seen


def test_a_line_is_passed_on_when_it_is_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert written(0, lambda lines: [lines.write(part) for part in ("a", "b\nc", "\n", "\n", "rest")]) == [
        "ab",
        "c",
        "rest",
    ]
    assert capsys.readouterr().out == "ab\nc\n\nrest"


def test_other_ranks_are_named() -> None:
    assert written(2, lambda lines: print("a", "b", file=lines)) == ["rank 2: a b"]


def test_of_a_progress_bar_the_last_state_counts() -> None:
    def bar(lines: WorkerLines) -> None:
        for share in range(1000):
            lines.write(f"\r{share}/1000")
        lines.write("\r1000/1000\r\n")

    assert written(0, bar) == ["1000/1000"]
