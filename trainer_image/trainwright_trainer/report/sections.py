"""The sections of the report below its head, in their order."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from trainwright_trainer.callbacks import formats
from trainwright_trainer.callbacks.events import best_of
from trainwright_trainer.features.distribution import Frequencies, Histogram
from trainwright_trainer.report import bars, curves, words
from trainwright_trainer.report.data import FeatureSummary, ReportData
from trainwright_trainer.report.markup import Markup, element
from trainwright_trainer.report.pictures import pictures
from trainwright_trainer.report.tables import figure, section

# More would make the page too large to mail; the page says how many are left out.
MOST_FEATURES = 400
MOST_CONFIG = 600_000


def learning_curves(data: ReportData) -> Markup | None:
    """One chart per metric: the combined loss first, then the metrics of each output."""
    if not data.history:
        return None
    charts = [_metric_chart(data, feature, metric) for feature, metric in _metrics(data)]
    note = f"Train is dashed, validation solid. {words.kept_weights(data)}"
    return section("Learning curves", element("p", note, class_="note"), element("div", *charts, class_="grid"))


def _metrics(data: ReportData) -> Iterator[tuple[str, str]]:
    """(feature, metric) of all rounds in their first order. A single output's loss is left out: it is `combined`."""
    seen = dict.fromkeys(
        (feature, metric)
        for round_ in data.history
        for part in ("validation", "train")
        for feature, metrics in round_.scores.get(part, {}).items()
        for metric in metrics
    )
    outputs = {feature for feature, _ in seen} - {"combined"}
    order = ["combined", *dict.fromkeys(feature for feature, _ in seen if feature != "combined")]
    for feature, metric in sorted(seen, key=lambda pair: order.index(pair[0])):
        if not (metric == "loss" and len(outputs) == 1 and feature != "combined" and ("combined", "loss") in seen):
            yield feature, metric


def _metric_chart(data: ReportData, feature: str, metric: str) -> Markup:
    found = {
        part: [
            (_epochs_done(data, round_.epoch, round_.step), round_.scores[part][feature][metric])
            for round_ in data.history
            if metric in round_.scores.get(part, {}).get(feature, {})
        ]
        for part in ("train", "validation")
    }
    numbers = {part: [value for _, value in points if math.isfinite(value)] for part, points in found.items()}
    best = _best_epoch(data)
    at_best = next((value for at, value in found["validation"] if at == best), None)
    whole = f"{metric} of all outputs together" if len(data.outputs) > 1 else metric
    title = whole if feature == "combined" else f"{formats.shorten(feature, 40)}: {metric}"
    shown = [curves.Curve(part, points) for part, points in found.items() if numbers[part]]
    chart = curves.figure(f"{title} by epoch", metric, shown, best)
    return figure(title, chart, words.curve_caption(numbers["train"], numbers["validation"], at_best))


def _epochs_done(data: ReportData, epoch: int, step: int) -> float:
    """The position of a round on the axis. Rounds within an epoch lie between its ends."""
    return step / data.started.steps_per_epoch if data.started and data.started.steps_per_epoch else epoch + 1.0


def _best_epoch(data: ReportData) -> float | None:
    best = best_of(data.history)
    if data.ended:
        best = next((round_ for round_ in data.history if round_.step == data.ended.best_step), best)
    return None if best is None else _epochs_done(data, best.epoch, best.step)


def features(data: ReportData) -> Markup | None:
    """One card per feature: its type and role, its facts, its distribution in the training rows."""
    if not data.features:
        return None
    cards = [_card(feature) for feature in data.features[:MOST_FEATURES]]
    left = len(data.features) - len(cards)
    note = element("p", f"{left:,} more features are in model/statistics.json.", class_="note") if left else None
    of = element("p", "Counted over the training rows.", class_="note")
    return section("Features", of, element("div", *cards, class_="grid cards"), note)


def _card(feature: FeatureSummary) -> Markup:
    facts = (
        element("span", element("span", name, class_="quiet"), f" {value}", class_="fact")
        for name, value in feature.facts.items()
    )
    kind = element("span", f"{feature.type} {feature.role}", class_="kind")
    shown = pictures((f"{feature.name}, a training row", uri) for uri in feature.images)
    head = element("h3", feature.name, " ", kind)
    return element("article", head, element("p", *facts), shown, _distribution(feature), class_="card")


def _distribution(feature: FeatureSummary) -> Markup | None:
    match feature.distribution:
        case Histogram() as histogram:
            return bars.histogram(feature.name, histogram)
        case Frequencies() as frequencies if frequencies.values:
            return bars.frequencies(feature.name, frequencies)
        case _:
            return None


def progress(data: ReportData) -> Markup | None:
    """The learning rate and the throughput, by round."""
    charts = [chart for chart in (_learning_rate(data), _throughput(data)) if chart is not None]
    return section("Learning rate and throughput", element("div", *charts, class_="grid")) if charts else None


def _learning_rate(data: ReportData) -> Markup | None:
    points = [(_epochs_done(data, one.epoch, one.step), one.learning_rate) for one in data.history]
    if not points:
        return None
    rates = [rate for _, rate in points]
    low, high = (formats.rate_of_learning(rate) for rate in (min(rates), max(rates)))
    caption = (
        f"{low} in all rounds." if low == high else f"From {high} at most to {low} at least, at the end of a round."
    )
    chart = curves.figure("Learning rate by epoch", "learning rate", [curves.Curve("", points)], None)
    return figure("Learning rate", chart, caption)


def _throughput(data: ReportData) -> Markup | None:
    points = [
        (_epochs_done(data, round_.epoch, round_.step), round_.rows_per_second)
        for round_ in data.history
        if math.isfinite(round_.rows_per_second)
    ]
    if not points:
        return None
    chart = curves.figure("Throughput by epoch", "rows/s", [curves.Curve("", points)], None, zero=True)
    low, high = min(value for _, value in points), max(value for _, value in points)
    caption = f"Between {formats.rate(low)} and {formats.rate(high)} rows/s in training steps, evaluation not counted."
    return figure("Rows per second", chart, caption)


def about(data: ReportData) -> Markup | None:
    """Date, machine, versions and data of the run."""
    if not data.about:
        return None
    pairs = (element("div", element("dt", name), element("dd", fact)) for name, fact in data.about.items())
    return section("This run", element("dl", *pairs, class_="about"))


def config(resolved: Mapping[str, Any]) -> Markup | None:
    """The whole configuration with every default, in a folded block."""
    if not resolved:
        return None
    text = json.dumps(resolved, indent=2, ensure_ascii=False, default=str)
    if len(text) > MOST_CONFIG:
        text = text[:MOST_CONFIG] + "\n… the rest is in model/config.json"
    folded = element("details", element("summary", "Show every setting, defaults included"), element("pre", text))
    return section("Resolved config", folded)
