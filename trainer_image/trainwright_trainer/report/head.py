"""The head of the report: the model's score, the rows it is measured on, the simple baselines, the facts of the run."""

from __future__ import annotations

import math
from collections.abc import Iterator

from trainwright_trainer.callbacks import formats
from trainwright_trainer.report import words
from trainwright_trainer.report.data import OutputFigures, ReportData
from trainwright_trainer.report.markup import Markup, element, join
from trainwright_trainer.report.tables import scrollable


def head(data: ReportData) -> Markup:
    """The title, one sentence per output with its score, the reason why training ended, and the facts."""
    kind = "Training report" if data.ended else "Evaluation report"
    return element(
        "header",
        element("p", kind, class_="kicker"),
        element("h1", data.title),
        *(_headline(data, output) for output in data.outputs),
        _ending(data),
        _facts(data),
    )


def scores_table(output: OutputFigures) -> Markup:
    """One line per metric: this model and the baselines; the best value of the line is bold."""
    names = list(output.baselines)
    head_cells = ["metric", "this model", *names]
    rows = [_score_row(output, metric, names) for metric in output.scores]
    note = f" {output.note}." if output.note else ""
    range_ = " The range is the 95\u00a0% interval over samples of the rows." if output.intervals else ""
    caption = element("caption", f"↑ more is better, ↓ less is better; the best of a line is bold.{range_}{note}")
    body = element("tbody", *rows)
    top = element("thead", element("tr", *(element("th", name, scope="col") for name in head_cells)))
    table = element("table", caption, top, body, class_="scores")
    return scrollable(table, f"Scores of {output.name}")


def _score_row(output: OutputFigures, metric: str, baselines: list[str]) -> Markup:
    values = [output.scores[metric], *(output.baselines[name].get(metric, math.nan) for name in baselines)]
    known = [value for value in values if math.isfinite(value)]
    best = (min if formats.lower_is_better(metric) else max)(known, default=None)
    texts = [formats.score(value) for value in values]
    texts[0] += words.interval(output, metric)
    cells = [
        element("td", element("b", text) if value == best else text) for text, value in zip(texts, values, strict=True)
    ]
    name = f"{metric}\u00a0{'↓' if formats.lower_is_better(metric) else '↑'}"
    return element("tr", element("th", name, scope="row"), *cells)


def _headline(data: ReportData, output: OutputFigures) -> Markup:
    metric = words.headline_metric(output, data.started.validation_metric if data.started else None)
    if metric is None:
        return element("p", f"{output.name}: there are no scores.", class_="lead")
    rows = words.judged_rows(data, output)
    kind = words.kind_of_rows(data)
    on = f"On {formats.count(rows)} {kind}, " if rows else f"On the {kind}, "
    value = element("strong", f"{metric} {formats.score(output.scores[metric])}{words.interval(output, metric)}")
    score = element(
        "p",
        on,
        element("em", formats.shorten(output.name, 80)),
        f" ({output.type}) reaches ",
        value,
        f"{words.beside(output, metric)}.",
        class_="lead",
    )
    return join(score, element("p", words.comparison(output, metric), class_="comparison"))


def _ending(data: ReportData) -> Markup | None:
    if data.started is None or data.ended is None:
        return None
    return element("p", words.ending(data, data.started, data.ended), class_="comparison")


def _facts(data: ReportData) -> Markup | None:
    pairs = [element("div", element("dt", name), element("dd", value)) for name, value in _facts_of(data)]
    return element("dl", *pairs, class_="facts") if pairs else None


def _facts_of(data: ReportData) -> Iterator[tuple[str, str]]:
    started, ended = data.started, data.ended
    if started:
        yield "rows", formats.count(started.rows)
        for part, rows in started.split_rows.items():
            yield f"{part} rows", formats.count(rows)
        yield "inputs", formats.count(started.inputs)
    if started and data.history:
        yield "epochs", f"{data.history[-1].epoch + 1} of {started.epochs}"
    if ended and data.history:
        yield "best epoch", formats.count(ended.best_epoch + 1)
    if ended:
        yield "training time", formats.duration(ended.seconds)
    speeds = sorted(round_.rows_per_second for round_ in data.history if math.isfinite(round_.rows_per_second))
    if speeds:
        yield "median speed", f"{formats.rate(speeds[len(speeds) // 2])} rows/s"
    if started:
        yield "optimizer", f"{started.optimizer} {formats.rate_of_learning(started.learning_rate)}"
        yield "batch", formats.counted(started.batch_size, "row")
