"""The section of one output: its scores, its figures, its classes and its worst rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainwright_trainer.callbacks import formats
from trainwright_trainer.report import bars, classifiers, grids, residual_plots, thresholds, words
from trainwright_trainer.report.data import ClassScores, OutputFigures, ReportData, WorstRow
from trainwright_trainer.report.head import scores_table
from trainwright_trainer.report.markup import Markup, element, join
from trainwright_trainer.report.pictures import pictures
from trainwright_trainer.report.tables import figure, section, table

MOST_CLASSES = 30
MOST_COLUMNS = 16


def output(data: ReportData, of: OutputFigures) -> Markup:
    """The section of one output."""
    figures = [*_of_classes(of), *_of_numbers(of)]
    grid = element("div", *figures, class_="grid") if figures else None
    title = join(element("em", formats.shorten(of.name, 60)), f" on {words.kind_of_rows(data)}")
    return section(title, scores_table(of), classes(of.classes), grid, worst(data, of))


def _of_classes(of: OutputFigures) -> Iterator[Markup]:
    if of.confusion:
        yield figure("Confusion matrix", grids.confusion(of.name, of.confusion), words.confusion_caption(of.confusion))
    if of.roc:
        yield figure("ROC", classifiers.roc(of.name, of.roc), words.roc_caption(of.roc.auc))
    if of.class_rocs:
        chart = thresholds.class_rocs(of.name, of.class_rocs)
        yield figure("ROC by class", chart, thresholds.class_rocs_caption(of.class_rocs))
    if of.precision_recall:
        chart = thresholds.precision_recall(of.name, of.precision_recall)
        yield figure("Precision and recall", chart, thresholds.precision_recall_caption(of.precision_recall))
    if of.thresholds:
        chart = thresholds.thresholds(of.name, of.thresholds)
        yield figure("Threshold", chart, thresholds.thresholds_caption(of.thresholds))
    if of.calibration:
        chart = classifiers.calibration(of.name, of.calibration)
        yield figure("Calibration", chart, words.calibration_caption(of.calibration))
    if of.tokens:
        yield figure("Tokens found", bars.tokens(of.name, of.tokens), words.tokens_caption(of.tokens))


def _of_numbers(of: OutputFigures) -> Iterator[Markup]:
    if of.predicted_against_true:
        chart = grids.predicted_against_true(of.name, of.predicted_against_true)
        yield figure("Predicted against true", chart, words.predicted_caption(of.predicted_against_true))
    if of.residuals:
        found = of.residuals
        chart = residual_plots.distribution(of.name, found)
        yield figure("Residuals", chart, residual_plots.distribution_caption(found))
        chart = residual_plots.by_prediction(of.name, found)
        yield figure("Residuals by prediction", chart, residual_plots.by_prediction_caption(found))


def classes(found: Sequence[ClassScores]) -> Markup | None:
    """Precision, recall, F1 and the number of rows of each class."""
    if not found:
        return None
    rows = [
        (formats.shorten(one.label, 40), *map(formats.score, (one.precision, one.recall, one.f1)), f"{one.support:,}")
        for one in found[:MOST_CLASSES]
    ]
    left = len(found) - MOST_CLASSES
    more = f" {formats.counted(left, 'rarer class')} left out." if left > 0 else ""
    caption = f"support: the rows of the class; F1: the harmonic mean of precision and recall.{more}"
    return table("Scores by class", ["class", "precision", "recall", "F1", "support"], rows, caption)


def worst(data: ReportData, of: OutputFigures) -> Markup | None:
    """A card for each of the rows with the largest losses."""
    if not of.worst:
        return None
    columns = _by_importance(data, of)
    cards = [_card(one, of.worst_columns[:1], columns) for one in of.worst]
    left = len(columns) - MOST_COLUMNS
    more = f" {formats.counted(left, 'more column')} left out." if left > 0 else ""
    unread = any(one.values is None for one in of.worst)
    late = " The file was not read far enough for the values of all rows." if unread else ""
    note = (
        f"The rows with the largest losses, with the values in the file.{more}{late} Wrong labels are often among them."
    )
    return join(
        element("h3", "Worst rows", class_="title"),
        element("p", note, class_="note"),
        element("div", *cards, class_="grid cards"),
    )


def _card(one: WorstRow, target: Sequence[str], columns: Sequence[str]) -> Markup:
    values = one.values or {}
    true = next((f"true {formats.shorten(values[name], 40)}, " for name in target if name in values), "")
    head = element("h3", f"row {one.row + 1:,} ", element("span", f"loss {formats.score(one.loss)}", class_="kind"))
    prediction = element("p", element("b", f"{true}predicted {formats.shorten(one.predicted, 60)}"))
    facts = (
        element("span", element("span", name, class_="quiet"), f" {values[name]}", class_="fact")
        for name in columns[:MOST_COLUMNS]
        if name in values
    )
    shown = pictures((f"{name} of row {one.row + 1:,}", uri) for name, uri in one.images.items())
    return element("article", head, prediction, shown, element("p", *facts), class_="card")


def _by_importance(data: ReportData, of: OutputFigures) -> list[str]:
    """The columns of the inputs, the most important one first."""
    found = data.importance.outputs if data.importance else ()
    names = [one.feature for each in found if each.output == of.name for one in each.features]
    order = {name: position for position, name in enumerate(names)}
    return sorted(of.worst_columns[1:], key=lambda column: order.get(column, len(order)))
