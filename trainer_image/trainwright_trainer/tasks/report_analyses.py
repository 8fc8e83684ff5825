"""The analyses of the report, which need the trained model: intervals, the worst rows and permutation importance."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from trainwright_api.problems import Mistakes
from trainwright_trainer.analysis.baselines import baselines
from trainwright_trainer.analysis.deadline import Deadline
from trainwright_trainer.analysis.importance import importances
from trainwright_trainer.analysis.intervals import intervals
from trainwright_trainer.analysis.subject import Subject
from trainwright_trainer.analysis.thumbnails import Thumbnails
from trainwright_trainer.analysis.worst_rows import columns_of, raw_values, worst_rows
from trainwright_trainer.callbacks import formats
from trainwright_trainer.data.prepared import SPLIT_NAMES, TEST, VALIDATION
from trainwright_trainer.data.rows import Block
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.frames.interface import Source
from trainwright_trainer.metrics.folding import is_core_free
from trainwright_trainer.metrics.model import ModelMetrics
from trainwright_trainer.report import words
from trainwright_trainer.report.data import Importances, OutputFigures, WorstRow


@dataclass(frozen=True)
class AnalysisSettings:
    """`seconds`: the time limit of all analyses. `stop`: returns True if they are to end at once."""

    seconds: float
    log: Callable[[str], None]
    stop: Callable[[], bool] = bool
    baselines: bool = False


@dataclass(frozen=True)
class Analyses:
    """`figures`: those of the outputs, with intervals and worst rows. `samples`: pictures of rows, by image input."""

    figures: Sequence[OutputFigures]
    importance: Importances | None
    samples: Mapping[str, Sequence[str]] = field(default_factory=dict)


def analyses(
    subject: Subject,
    data: Callable[[], Source[Block]],
    metrics: ModelMetrics,
    figures: Sequence[OutputFigures],
    settings: AnalysisSettings,
) -> Analyses:
    """All analyses that end in time. `data` opens the raw columns. `metrics` and `figures`: those of the test rows."""
    deadline = Deadline(settings.seconds, settings.stop)
    with ThreadPoolExecutor(2, thread_name_prefix="analyses") as beside:
        values = beside.submit(raw_values, data, metrics.worst, deadline)  # Arrow reads beside the passes of the model
        rises = beside.submit(_importance, subject, figures, deadline) if is_core_free() else None
        found = _with_intervals(subject, figures, deadline)
    pictures = Thumbnails(subject.config, subject.data)
    samples = {} if deadline.passed else pictures.samples()
    if not deadline.passed:
        try:
            found = _with_worst_rows(subject, worst_rows(subject, metrics.worst, values.result()), found, pictures)
        except (Mistakes, EnvironmentFailure) as error:  # the model is trained; the data have gone or changed meanwhile
            settings.log(f"report: the worst rows are left out: {error}")
    importance = _importance(subject, figures, deadline) if rises is None else rises.result()
    if settings.baselines and not settings.stop():
        found = _with_baselines(subject, found, settings.log)
    return Analyses(found, importance, samples)


def _with_intervals(subject: Subject, figures: Sequence[OutputFigures], deadline: Deadline) -> list[OutputFigures]:
    if deadline.passed or not figures:
        return list(figures)
    by_output = intervals(subject, TEST, {one.name: one.scores for one in figures}, deadline)
    return [replace(one, intervals=by_output.get(one.name, {})) for one in figures]


def _with_worst_rows(
    subject: Subject, worst: Mapping[str, Sequence[WorstRow]], figures: Sequence[OutputFigures], pictures: Thumbnails
) -> list[OutputFigures]:
    shown = {name: [replace(one, images=pictures.of_row(one.row)) for one in rows] for name, rows in worst.items()}
    return [replace(one, worst=shown.get(one.name, ()), worst_columns=columns_of(subject, one.name)) for one in figures]


def _with_baselines(
    subject: Subject, figures: Sequence[OutputFigures], log: Callable[[str], None]
) -> list[OutputFigures]:
    """Trains the baselines, and logs the headline score of each output beside theirs."""
    whole = Deadline(math.inf)
    scores = baselines(subject)
    found = [replace(one, baselines={**one.baselines, **scores.get(one.name, {})}) for one in figures]
    for one in found:
        metric = words.headline_metric(one, None)
        if one.name in scores and metric is not None:
            others = [
                f"{name} {formats.score(each[metric])}" for name, each in scores[one.name].items() if metric in each
            ]
            line = " · ".join([f"this model {formats.score(one.scores[metric])}", *others])
            log(f"baselines of {one.name}, test {metric}: {line}")
    log(f"baselines took {formats.duration(whole.spent)}")
    return found


def _importance(subject: Subject, figures: Sequence[OutputFigures], deadline: Deadline) -> Importances | None:
    part = next((code for code in (VALIDATION, TEST) if len(subject.data.rows_of(code))), None)
    if part is None or deadline.passed:
        return None
    metrics = {one.name: metric for one in figures if (metric := words.headline_metric(one, None))}
    return importances(subject, part, SPLIT_NAMES[part], metrics, deadline)
