"""report.html of a search: one self-contained page, like the report of a run."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainwright_trainer.callbacks import formats
from trainwright_trainer.callbacks.events import Evaluated
from trainwright_trainer.report.frame import framed
from trainwright_trainer.report.markup import Markup, element, join
from trainwright_trainer.report.plot import Points
from trainwright_trainer.report.tables import scrollable, section
from trainwright_trainer.search import figures, words
from trainwright_trainer.search.importance import importance
from trainwright_trainer.search.objective import Objective
from trainwright_trainer.search.trials import Trial, ranked

BEST = 10
MOST_ROWS = 200
SHORT_STATE = 32
"""Longer ones, as the line of a failure, are broken in the table."""


@dataclass(frozen=True)
class SearchReport:
    """`logarithmic`: the parameters with a logarithmic space; `rounds`: the evaluation rounds of the best trials, by
    trial; `job`: job.yaml of the best one; `model_score`: the score of its model."""

    name: str
    objective: Objective
    trials: Sequence[Trial]
    logarithmic: Collection[str]
    seconds: float
    rounds: Mapping[str, Sequence[Evaluated]]
    job: str
    model_score: float
    test: Mapping[str, float]
    versions: Mapping[str, str]


def render(data: SearchReport) -> str:
    order = ranked(data.trials, data.objective)
    body = element(
        "main",
        _head(data, order),
        _figure_section(
            "Trials over time",
            figures.over_time(data.trials, data.objective),
            "A dot is a trial, at its last round. The line is the best score so far. "
            "A much worse score lies at the edge of the figure.",
        ),
        _figure_section(
            "Parallel coordinates",
            figures.parallel(data.trials, data.objective, order[: _coloured(len(order))], data.logarithmic),
            f"A line is a trial, from its values to its score. {_the_best(_coloured(len(order)))} in colour.",
        ),
        _importance(data),
        _curves(data),
        _table(data, order),
        section(f"Configuration of the best trial, {order[0].id}", element("pre", data.job)),
    )
    footer = " · ".join(f"{name} {version}" for name, version in data.versions.items())
    return framed(f"{data.name} · Trainwright search", join(body, element("footer", footer)))


def _coloured(trials: int) -> int:
    """The number of lines in colour: a third of the trials, at most ten."""
    return max(1, min(BEST, trials // 3))


def _the_best(count: int) -> str:
    return "The best trial is" if count == 1 else f"The {formats.count(count)} best trials are"


def _head(data: SearchReport, order: Sequence[Trial]) -> Markup:
    objective, best = data.objective, order[0]
    counts = {
        kind: sum(trial.state == kind for trial in data.trials) for kind in ("done", "stopped", "replaced", "failed")
    }
    facts = {
        "trials": formats.count(len(data.trials)),
        **{kind: formats.count(count) for kind, count in counts.items() if count},
        "search time": formats.duration(data.seconds),
        **({} if data.model_score == best.score else {"score when stopped": formats.score(best.score)}),
        "worst score": formats.score(order[-1].score),
        **{f"test {metric}, best trial": formats.score(value) for metric, value in data.test.items()},
    }
    pairs = [element("div", element("dt", name), element("dd", value)) for name, value in facts.items()]
    strong = element("strong", f"{objective.metric} {formats.score(data.model_score)}")
    return element(
        "header",
        element("p", "Search report", class_="kicker"),
        element("h1", data.name),
        element(
            "p", f"The best of {len(order)} trials, {best.id}, reaches ", strong, f" ({objective.name}).", class_="lead"
        ),
        element("p", words.values(best.values), class_="comparison"),
        element("dl", *pairs, class_="facts"),
    )


def _importance(data: SearchReport) -> Markup | None:
    shares = importance(data.trials)
    if not shares:
        return None
    note = (
        "The share of the variance of the scores that a parameter explains alone. "
        f"It is an estimate from {formats.counted(len(data.trials), 'trial')}."
    )
    return _figure_section("Importance of the parameters", figures.bars(shares), note)


def _curves(data: SearchReport) -> Markup | None:
    objective = data.objective
    part = "validation" if objective.split == "test" else objective.split
    found: dict[str, Points] = {}
    for name, rounds in data.rounds.items():
        values = [
            (one.epoch + 1.0, one.scores.get(part, {}).get(objective.feature, {}).get(objective.metric, math.nan))
            for one in rounds
        ]
        if known := [point for point in values if math.isfinite(point[1])]:
            found[name] = known
    if not found:
        return None
    what = f"{part.capitalize()} {objective.metric} after each epoch"
    caption = f"{what}, of the {formats.counted(len(found), 'best trial')}. The first of them is in colour."
    return _figure_section("Learning curves", figures.curves(found, objective), caption)


def _table(data: SearchReport, order: Sequence[Trial]) -> Markup:
    rows = [*order, *(trial for trial in data.trials if trial not in order)]
    names = list(rows[0].values)
    head = element(
        "tr",
        *(element("th", name, scope="col", style="max-width:none") for name in ("trial", "score", "state", *names)),
    )
    body = [_row(trial, names) for trial in rows[:MOST_ROWS]]
    left = len(rows) - len(body)
    more = f" {formats.counted(left, 'more trial')}: see hyperopt.json." if left > 0 else ""
    caption = element("caption", f"The best trial first. Each is a run in trials/.{more}")
    table = element("table", caption, element("thead", head), element("tbody", *body), class_="ranks")
    return section("Trials", scrollable(table, "Trials"))


def _row(trial: Trial, names: Sequence[str]) -> Markup:
    state = trial.end.line if trial.end is not None and trial.end.line else trial.state
    state += f", from trial {trial.origin.trial}" if trial.origin is not None else ""
    values: list[Any] = [words.value(trial.values.get(name)) for name in names]
    style = "white-space:normal;min-width:20rem;text-align:left" if len(state) > SHORT_STATE else None
    return element(
        "tr",
        element("th", trial.id, scope="row"),
        element("td", formats.score(trial.score)),
        element("td", state, style=style),
        *(element("td", cell) for cell in values),
    )


def _figure_section(title: str, chart: Markup, caption: str) -> Markup:
    wide = 'class="wide"' in chart
    shown = scrollable(chart, title) if wide else chart
    figure = element("figure", shown, element("figcaption", caption), class_="broad")
    return section(title, figure)
