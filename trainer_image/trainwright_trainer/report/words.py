"""The report's sentences: plain English with the numbers in it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from trainwright_trainer.callbacks import formats
from trainwright_trainer.callbacks.decisive import decisive_of
from trainwright_trainer.callbacks.events import Ended, Evaluated, Started
from trainwright_trainer.callbacks.lines import SHARE_OF_RIGHT
from trainwright_trainer.report.data import (
    Calibration,
    ConfusionMatrix,
    OutputFigures,
    PredictedAgainstTrue,
    ReportData,
    TokenCounts,
)

HEADLINE_METRICS = (
    *("roc_auc", "accuracy", "jaccard", "token_accuracy"),
    *("mean_absolute_error", "root_mean_squared_error", "mean_squared_error", "r2", "loss"),
)
"""The headline metric of an output is the first of these if the job watches none of its metrics."""


def headline_metric(output: OutputFigures, watched: str | None) -> str | None:
    """The metric of the headline: the one that the job watches, unless it is a loss."""
    feature, _, metric = (watched or "").rpartition(".")
    if feature == output.name and metric != "loss" and _known(output.scores, metric):
        return metric
    known = [name for name in (*HEADLINE_METRICS, *output.scores) if _known(output.scores, name)]
    # Prefer a metric that a baseline has too.
    compared = [name for name in known if strongest_baseline(output, name)]
    return next(iter((*compared, *known)), None)


def interval(output: OutputFigures, metric: str) -> str:
    """` (0.71 to 0.77)`, the 95 % interval of a score; empty if it is unknown."""
    ends = output.intervals.get(metric)
    return "" if ends is None else f" ({formats.score(ends[0])}\u00a0to\u00a0{formats.score(ends[1])})"


def beside(output: OutputFigures, metric: str) -> str:
    """The plain share of right rows, if the headline metric is the mean over classes."""
    share = output.scores.get(SHARE_OF_RIGHT, math.nan)
    if output.type != "category" or metric != "accuracy" or not math.isfinite(share):
        return ""
    return f", the mean over its classes; the share of right rows, accuracy_micro, is {formats.score(share)}"


def monitored(started: Started, rounds: Sequence[Evaluated]) -> str:
    """The metric that decides the best epoch: `validation roc_auc`; with several outputs, also the output's name."""
    return f"validation {formats.metric_name(decisive_of(started.validation_metric, rounds), started.outputs)}"


def kept_weights(data: ReportData) -> str:
    """The caption of the vertical line in the curves."""
    text = "The upright line marks the round whose weights were kept"
    if data.started is None or not _decided(data):
        return f"{text}."
    return f"{text}: the best by {monitored(data.started, data.history)}."


def ending(data: ReportData, started: Started, ended: Ended) -> str:
    """The reason why training ended, and the epoch of the model."""
    best, decides = f"epoch {formats.count(ended.best_epoch + 1)}", monitored(started, data.history)
    why = {
        "epochs": f"Training finished all {formats.counted(started.epochs, 'epoch')}.",
        "train_steps": "Training finished all train_steps.",
        "early stopping": f"Training stopped early: {decides} was not better after {best}.",
        "time limit": "Training ended at its time limit.",
    }
    kept = f"The model is that of {best}" + (f", the best by {decides}." if _decided(data) else ".")
    return f"{why[ended.reason]} {kept}"


def _decided(data: ReportData) -> bool:
    """True if validation rows decided the best round; without any, the last round is kept."""
    return any("validation" in round_.scores for round_ in data.history)


def kind_of_rows(data: ReportData) -> str:
    """The rows that the model is evaluated on."""
    return "rows of new data" if data.part == "given" else f"{data.part} rows"


def judged_rows(data: ReportData, output: OutputFigures) -> int | None:
    """The number of rows that the output is evaluated on, or None if it is unknown."""
    if output.confusion:
        return sum(map(sum, output.confusion.counts))
    if output.predicted_against_true:
        return sum(map(sum, output.predicted_against_true.counts))
    return data.started.split_rows.get(data.part) if data.started else None


def strongest_baseline(output: OutputFigures, metric: str) -> tuple[str, float] | None:
    """The baseline with the best value of this metric."""
    known = [(name, scores[metric]) for name, scores in output.baselines.items() if _known(scores, metric)]
    return max(known, key=lambda pair: -pair[1] if formats.lower_is_better(metric) else pair[1], default=None)


def is_better(metric: str, value: float, than: float) -> bool:
    """True if `value` is better than `than`."""
    return value < than if formats.lower_is_better(metric) else value > than


def comparison(output: OutputFigures, metric: str) -> str:
    """The model compared with the simple baselines."""
    baseline = strongest_baseline(output, metric)
    if baseline is None:
        return "There is no simple baseline to compare it with."
    name, value = baseline
    best = "the best simple baseline" if len(output.baselines) > 1 else "the simple baseline"
    if is_better(metric, output.scores[metric], value):
        return f"That is better than {best}, {name}: {formats.score(value)}.{_but_the_share(output)}"
    return f"That is not better than {best}, {name}: {formats.score(value)}."


def _but_the_share(output: OutputFigures) -> str:
    """The sentence for a model whose labels are no better than those of a baseline, though its score is."""
    for metric in ("accuracy", "accuracy_micro"):
        baseline = strongest_baseline(output, metric)
        own = output.scores.get(metric)
        if baseline and own is not None and not is_better(metric, own, baseline[1]):
            found = f"{metric} is not: {formats.score(own)}, {baseline[0]} {formats.score(baseline[1])}"
            return f" But {found}.{' Look at the threshold.' if output.type == 'binary' else ''}"
    return ""


def curve_caption(train: Sequence[float], validation: Sequence[float], best: float | None) -> str:
    """The caption of one learning curve."""
    if not train and not validation:
        return "No round gave a number."
    last = " and ".join(
        f"{part} {formats.score(values[-1])}"
        for part, values in (("train", train), ("validation", validation))
        if values
    )
    if max(len(train), len(validation)) == 1:
        return f"One round: {last}."
    first = "" if best is None else f"Validation {formats.score(best)} in the best round; "
    return f"{first}{last} in the last round." if first else f"{last[0].upper()}{last[1:]} in the last round."


def confusion_caption(matrix: ConfusionMatrix) -> str:
    """The caption of the matrix, with the most frequent mistake."""
    text = f"Each cell is a share (%) of the {matrix.counted}s of its true class; the diagonal is right."
    named = len(matrix.labels)
    if matrix.in_last > 1:
        named -= 1
        text += f" The last line and column are the {formats.count(matrix.in_last)} rarest classes together."
    mistakes = [
        (count, matrix.labels[i], matrix.labels[j])
        for i, counts in enumerate(matrix.counts[:named])
        for j, count in enumerate(counts[:named])
        if i != j and count
    ]
    if not mistakes:
        return text if matrix.in_last > 1 else f"{text} There is no mistake."
    count, true, predicted = max(mistakes, key=lambda mistake: mistake[0])
    rows = formats.counted(count, matrix.counted)
    return f"{text} The commonest mistake: {_quoted(true)} taken for {_quoted(predicted)}, {rows}."


def roc_caption(auc: float) -> str:
    return (
        f"Area {formats.score(auc)}: a row of the positive class gets a higher probability than one of the other "
        f"in {formats.percent(auc)} of all pairs."
    )


def calibration_caption(bins: Calibration) -> str:
    """The mean distance between the predicted and the observed share, in points."""
    rows = sum(bins.rows)
    off = sum(n * abs(p - o) for p, o, n in zip(bins.predicted, bins.observed, bins.rows, strict=True) if n)
    return (
        f"Predicted probabilities are {100 * off / rows:.1f} points off on average." if rows else "There are no rows."
    )


def predicted_caption(histogram: PredictedAgainstTrue) -> str:
    """The caption of the grid, with the share of close predictions."""
    total = sum(map(sum, histogram.counts))
    near = sum(n for i, row in enumerate(histogram.counts) for j, n in enumerate(row) if abs(i - j) <= 1)
    most = max((count for row in histogram.counts for count in row), default=0)
    text = f"Stronger colour is more rows, up to {formats.count(most)} a cell; a perfect model puts all on the dashes."
    if not total:
        return text
    width = (histogram.edges[-1] - histogram.edges[0]) / len(histogram.counts)
    close = f"{formats.percent(near / total)} of the rows are within about one cell ({formats.score(width)}) of it"
    return f"{text} {close}; the outermost cells hold what lies beyond."


def tokens_caption(counts: TokenCounts) -> str:
    """The caption of the bars of the tokens, with the token that is missed in most rows."""
    text = "Each bar is the rows that have the token; in its dark part the token is predicted too."
    missed = [true - both for true, both in zip(counts.true, counts.both, strict=True)]
    if not any(missed):
        return f"{text} None is missed."
    worst = max(range(len(missed)), key=missed.__getitem__)
    return f"{text} Missed most: {_quoted(counts.tokens[worst])}, {formats.counted(missed[worst], 'row')}."


def _quoted(label: str) -> str:
    return f"“{formats.shorten(label, 40)}”"


def _known(scores: Mapping[str, float], metric: str) -> bool:
    return metric in scores and math.isfinite(scores[metric])
