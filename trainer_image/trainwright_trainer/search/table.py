"""The table of the trials in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group
from rich.table import Table
from rich.text import Text

from trainwright_trainer.callbacks import formats
from trainwright_trainer.search import words
from trainwright_trainer.search.trials import Trial, ended, ranked
from trainwright_trainer.search.words import SearchPlan

MOST_ROWS = 15
MAX_CHARACTERS_OF_A_VALUE = 24
_GAP = 2
_COLOURS = {"running": "cyan", "failed": "red", "stopped": "yellow", "replaced": "yellow", "done": "green"}
Column = tuple[str, Sequence[Text]]
"""The head and the cells."""


def picture(plan: SearchPlan, trials: Sequence[Trial], seconds: float, width: int) -> Group:
    """The trials that run, then the best, and below them the counts and the time left.

    `width`: the columns of the terminal. Parameters for which there is no room are counted.
    """
    best = ranked(trials, plan.objective)
    running = [trial for trial in trials if trial.state == "running"]
    first = [*running, *(trial for trial in best if trial not in running)]
    rows = [*first, *(trial for trial in trials if trial not in first)]
    facts = _facts(plan, rows[:MOST_ROWS], best[0].id if best else "")
    parameters = _that_fit(_parameters(plan, rows[:MOST_ROWS]), width - sum(_width(fact) for fact in facts))
    counts = [
        f"{ended(trials)}{f'/{plan.total}' if plan.total else ''} trials",
        formats.duration(seconds),
        f"{formats.clock(plan.left(trials, seconds))} left",
    ]
    if len(rows) > MOST_ROWS:
        counts.append(formats.counted(len(rows) - MOST_ROWS, "more trial"))
    if hidden := len(plan.parameters) - len(parameters):
        counts.append(formats.counted(hidden, "more parameter"))
    return Group(_table([*facts, *parameters]), Text(" · ".join(counts), "dim"))


def _facts(plan: SearchPlan, rows: Sequence[Trial], best: str) -> list[Column]:
    epochs = [str(trial.scores[-1].epoch + 1) if trial.scores else "" for trial in rows]
    scores = [formats.score(trial.score) + (" (best)" if trial.id == best else "") for trial in rows]
    return [
        ("trial", [Text(trial.id) for trial in rows]),
        ("state", [Text(trial.state, _COLOURS[trial.state]) for trial in rows]),
        ("epoch", [*map(Text, epochs)]),
        (plan.objective.metric, [*map(Text, scores)]),
    ]


def _parameters(plan: SearchPlan, rows: Sequence[Trial]) -> list[Column]:
    return [
        (head, [Text(formats.shorten(words.value(trial.values[name]), MAX_CHARACTERS_OF_A_VALUE)) for trial in rows])
        for name, head in words.short_names(plan.parameters).items()
    ]


def _that_fit(columns: Sequence[Column], width: int) -> list[Column]:
    """The columns for which there is room, from the first one."""
    shown = []
    for column in columns:
        if _width(column) <= width:
            shown.append(column)
            width -= _width(column)
    return shown


def _width(column: Column) -> int:
    head, cells = column
    return max(len(head), *(cell.cell_len for cell in cells), 0) + _GAP


def _table(columns: Sequence[Column]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0))
    for head, _ in columns:
        table.add_column(Text(head), no_wrap=True)
    for cells in zip(*(cells for _, cells in columns), strict=True):
        table.add_row(*cells)
    return table
