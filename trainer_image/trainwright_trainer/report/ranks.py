"""Time and memory of each rank: a table, with the name of the rank that the others wait for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from trainwright_trainer.callbacks import formats
from trainwright_trainer.callbacks.events import Evaluated, RankRound
from trainwright_trainer.callbacks.ranks import straggler_line
from trainwright_trainer.report.data import ReportData
from trainwright_trainer.report.markup import Markup, element
from trainwright_trainer.report.tables import scrollable, section

MOST_RANKS = 64

_COLUMNS: Mapping[str, Callable[[RankRound], str | None]] = {
    "host": lambda one: one.host,
    "step": lambda one: formats.part_of_step(one.step_seconds),
    "own part": lambda one: formats.part_of_step(one.own_seconds),
    "loader": lambda one: formats.part_of_step(one.loader_seconds),
    "memory": lambda one: formats.memory(one.memory_bytes),
    "GPU memory": lambda one: None if one.gpu_memory_bytes is None else formats.memory(one.gpu_memory_bytes),
    "GPU busy": lambda one: None if one.gpu_use is None else formats.percent(one.gpu_use),
}


def ranks(data: ReportData) -> Markup | None:
    """The table, slowest rank first."""
    found = sorted(_over_rounds(data.history), key=lambda one: -one.own_seconds)
    if not found:
        return None
    shown = found[:MOST_RANKS]
    cells = {name: [of(one) for one in shown] for name, of in _COLUMNS.items()}
    cells = {name: column for name, column in cells.items() if any(cell is not None for cell in column)}
    head = element("thead", element("tr", *(element("th", name, scope="col") for name in ("rank", *cells))))
    body = element("tbody", *(_row(one, [column[at] for column in cells.values()]) for at, one in enumerate(shown)))
    left = f" {len(found) - len(shown):,} faster ranks are in metrics.json." if len(found) > len(shown) else ""
    caption = element(
        "caption",
        "Means of all rounds, a step; peaks of memory. A rank's own part is the loader, forward and backward, without "
        f"waiting for the gradients of others.{left}",
    )
    table = element("table", caption, head, body, class_="ranks")
    named = straggler_line(found)
    note = None if named is None else element("p", f"{named[0].upper()}{named[1:]}.", class_="note")
    return section("Time and memory by rank", note, scrollable(table, "Time and memory by rank"))


def _row(one: RankRound, cells: Sequence[str | None]) -> Markup:
    values = (element("td", formats.NOTHING if cell is None else cell) for cell in cells)
    return element("tr", element("th", str(one.rank), scope="row"), *values)


def _over_rounds(history: Sequence[Evaluated]) -> list[RankRound]:
    """Only the rounds whose ranks were on the same hosts as in the last round."""
    last = history[-1].ranks if history else ()
    alike = [one.ranks for one in history if [rank.host for rank in one.ranks] == [rank.host for rank in last]]
    return [_mean(of_rank) for of_rank in zip(*alike, strict=True)]


def _mean(rounds: Sequence[RankRound]) -> RankRound:
    uses = [one.gpu_use for one in rounds if one.gpu_use is not None]
    return replace(
        rounds[-1],
        step_seconds=fmean(one.step_seconds for one in rounds),
        own_seconds=fmean(one.own_seconds for one in rounds),
        loader_seconds=fmean(one.loader_seconds for one in rounds),
        memory_bytes=max(one.memory_bytes for one in rounds),
        gpu_memory_bytes=max(one.gpu_memory_bytes or 0 for one in rounds) or None,
        gpu_use=fmean(uses) if uses else None,
    )
