"""The page that compares runs: one file with a table of scores, overlaid curves and the differences of configs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from trainwright_trainer.callbacks import formats
from trainwright_trainer.report import overlay
from trainwright_trainer.report.frame import framed
from trainwright_trainer.report.markup import Child, Markup, element, join
from trainwright_trainer.report.runs import (
    RunRecord,
    best_of,
    curves_of,
    differences,
    other_rows_line,
    scored_metrics,
    telling_metrics,
)
from trainwright_trainer.report.tables import figure, section, table

MOST_CELL, MOST_ROWS = 60, 400


def render(runs: Sequence[RunRecord]) -> str:
    """The page as text: no script, no link, no request."""
    body = element("main", _head(runs), _scores(runs), _curves(runs), _differences(runs), _places(runs))
    return framed(f"{_title(runs)} · Trainwright", body)


def _title(runs: Sequence[RunRecord]) -> str:
    return f"{formats.counted(len(runs), 'run')} compared"


def _head(runs: Sequence[RunRecord]) -> Markup:
    headlines = [_headline(runs, name) for name in telling_metrics(runs)]
    return element("header", element("p", "Comparison", class_="kicker"), element("h1", _title(runs)), *headlines)


def _headline(runs: Sequence[RunRecord], name: str) -> Markup | None:
    """The best run by one test score, and its distance to the next one."""
    metric = name.rpartition(".")[2]
    known = [(run.test_score(name), run) for run in runs if math.isfinite(run.test_score(name))]
    known.sort(key=lambda pair: pair[0] if formats.lower_is_better(metric) else -pair[0])
    if not known:
        return None
    (value, first), *rest = known
    lead = element(
        "p", element("strong", f"{name} {formats.score(value)}"), " by ", element("em", first.label), class_="lead"
    )
    if not rest:
        return lead
    second = f"The next is {rest[0][1].label}: {formats.score(rest[0][0])}. Scores of test rows."
    return join(lead, element("p", second, class_="comparison"))


def _scores(runs: Sequence[RunRecord]) -> Markup:
    facts: list[list[Child]] = [
        ["state", *(run.state for run in runs)],
        ["best epoch", *(_best_epoch(run) for run in runs)],
        ["training time", *(formats.duration(run.seconds) for run in runs)],
        *([f"validation {name}", *_bold([run.validation(name) for run in runs], name)] for name in _monitored(runs)),
        *([f"test {name}", *_bold([run.test_score(name) for run in runs], name)] for name in scored_metrics(runs)),
    ]
    caption = "Validation scores are those of the best epoch. The best of a line is bold."
    if line := other_rows_line(runs):
        caption += f" {line[0].upper()}{line[1:]}."
    return section("Scores", table("Scores of the runs", ["", *(run.label for run in runs)], facts, caption))


def _monitored(runs: Sequence[RunRecord]) -> list[str]:
    return list(dict.fromkeys(run.monitored for run in runs))


def _bold(values: Sequence[float], name: str) -> list[Child]:
    best = best_of(values, name.rpartition(".")[2])
    texts = [formats.score(value) for value in values]
    return [element("b", text) if value == best else text for text, value in zip(texts, values, strict=True)]


def _best_epoch(run: RunRecord) -> str:
    return formats.NOTHING if run.best is None else formats.count(run.best.epoch + 1)


def _curves(runs: Sequence[RunRecord]) -> Markup | None:
    """One chart for each metric, with a line for each run."""
    found = curves_of(runs)
    if not found:
        return None
    drawn = overlay.chosen(runs)
    left = len(runs) - len(drawn)
    more = f" {formats.counted(left, 'run')} with worse scores not drawn." if left else ""
    note = element(
        "p", f"Scores of validation rows, or of training rows if a run has no validation rows.{more}", class_="note"
    )
    key = element("p", *(overlay.key(place, label) for place, label in enumerate(drawn)), class_="key")
    charts = [
        _chart(name, {label: lines[label] for label in drawn if label in lines}, drawn) for name, lines in found.items()
    ]
    return section("Curves", note, key, element("div", *(chart for chart in charts if chart), class_="grid"))


def _chart(name: str, lines: Mapping[str, list[tuple[float, float]]], drawn: Sequence[str]) -> Markup | None:
    known = {label: points for label, points in lines.items() if any(math.isfinite(value) for _, value in points)}
    if not known:
        return None
    metric = name.rpartition(".")[2]
    ends = [points[-1][1] for points in known.values()]
    best = best_of(ends, metric)
    first = next((label for label, points in known.items() if points[-1][1] == best), None)
    caption = "" if best is None or first is None else f"Best in the last round: {first}, {formats.score(best)}."
    styles = {label: drawn.index(label) for label in known}
    return figure(_words(name), overlay.figure(f"{name} by epoch", metric, known, styles), caption)


def _words(name: str) -> str:
    """The output and the metric of a chart, which may be broken between the two."""
    output, _, metric = formats.shorten(name, 60).rpartition(".")
    return f"{metric} of all outputs together" if output == "combined" else f"{output}: {metric}"


def _differences(runs: Sequence[RunRecord]) -> Markup:
    rows = [[path, *(formats.shorten(text, MOST_CELL) for text in texts)] for path, texts in differences(runs).items()]
    if not rows:
        return section("Differences", element("p", "All settings are equal.", class_="note"))
    left = len(rows) - MOST_ROWS
    more = f" {formats.counted(left, 'more line')} left out." if left > 0 else ""
    caption = f"Settings that are not equal in all runs; {formats.NOTHING}: the run has none.{more}"
    return section(
        "Differences", table("Differences of the settings", ["", *(run.label for run in runs)], rows, caption)
    )


def _places(runs: Sequence[RunRecord]) -> Markup:
    pairs = (element("div", element("dt", run.label), element("dd", run.place)) for run in runs)
    return section("Folders", element("dl", *pairs, class_="about"))
