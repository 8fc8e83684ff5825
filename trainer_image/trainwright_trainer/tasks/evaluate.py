"""The task evaluate: the scores of a saved model on a data set with targets, block by block."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch

from trainwright_api.problems import Mistakes
from trainwright_trainer.analysis.subject import Subject
from trainwright_trainer.callbacks.console import Console
from trainwright_trainer.callbacks.events import Scores
from trainwright_trainer.callbacks.formats import counted, score
from trainwright_trainer.callbacks.json_lines import nan_to_none
from trainwright_trainer.data.new_data import NewData
from trainwright_trainer.data.prepared import Prepared, joined
from trainwright_trainer.job.job import Job
from trainwright_trainer.job.versions import versions
from trainwright_trainer.metrics.figures import figures_of
from trainwright_trainer.metrics.model import ModelMetrics, model_metrics
from trainwright_trainer.report.data import ReportData
from trainwright_trainer.report.page import render
from trainwright_trainer.storage.registry import storage_at
from trainwright_trainer.tasks.artifacts import feature_summaries
from trainwright_trainer.tasks.report_analyses import Analyses, AnalysisSettings, analyses
from trainwright_trainer.tasks.report_facts import facts_of
from trainwright_trainer.tasks.result import Evaluation
from trainwright_trainer.tasks.saved_model import (
    SavedModel,
    computing,
    evaluation_data,
    model_of,
    rows_at_a_time,
    valid_rows,
)

MOST_BLOCKS = 8
"""The blocks of rows that an evaluation keeps for the analyses of its report."""

# The word for an evaluated row: all rows of new data ("given"), or the test rows of the training data ("test").
_ROW = {"given": "row", "test": "test row"}
_NO_ROW = {
    "given": "no row of {!r} can judge the model: each lacks a target, or an input that drops the row.",
    "test": "the model was trained on {!r} without test rows. Give other data with --dataset.",
}


def evaluate(job: Job, console: Console) -> Evaluation:
    """Score a data set with targets. Writes `evaluation.json` and `evaluation.html` to the output folder."""
    saved = model_of(job)
    data, part = evaluation_data(saved, job)
    with computing(saved, job.options.threads, job.cpus):
        about = {"model": str(job.model), "dataset": job.dataset}
        content = saved.about["content"] if part == "test" else ""
        settings = AnalysisSettings(job.spec.report.max_seconds, console.log)
        found = evaluation_of(saved, data, part, about, settings, facts_of(job, job.dataset, content))
    console.log_notices(data.notices(), data.name)
    shown = [f"{name}.{metric} {score(value)}" for name, one in found.items() for metric, value in one.items()]
    plain = {"dataset": job.dataset, "model": str(job.model), "part": part, "rows": found.rows, "scores": found.scores}
    folder = storage_at(str(job.output), job.keys.artifacts)
    folder.write("evaluation.html", [found.page.encode()])
    folder.write("evaluation.json", [json.dumps(nan_to_none(plain), indent=2).encode() + b"\n"])
    console.log(
        f"{data.name}: {counted(found.rows, _ROW[part])} · " + " · ".join(shown),
        f"report {job.output / 'evaluation.html'} · scores {job.output / 'evaluation.json'}",
    )
    return found


def evaluation_of(
    saved: SavedModel,
    data: NewData,
    part: str,
    about: dict[str, Any],
    settings: AnalysisSettings | None = None,
    facts: Mapping[str, str] | None = None,
) -> Evaluation:
    """The scores and the page of a data set; `about` and `facts` are shown on the page.

    The analyses of the report are computed if `settings` is given and the data have at most `MOST_BLOCKS`
    blocks. Raises `Mistakes` if no row has targets.
    """
    metrics = model_metrics(saved.config, saved.statistics, figures=True)
    rows, scores, whole = _scored(saved, data, metrics)
    if not rows:
        raise Mistakes.one("dataset", _NO_ROW[part].format(data.name))
    found = Analyses(figures_of(metrics), None)
    if settings is not None and whole is not None:
        subject = Subject(saved.model, saved.config, whole, saved.about["seed"], rows_at_a_time(saved))
        found = analyses(subject, data.raw, metrics, found.figures, settings)
    page = ReportData(
        title=str(saved.about["name"]),
        started=None,
        history=(),
        ended=None,
        outputs=found.figures,
        features=list(feature_summaries(saved.config, saved.statistics, found.samples)),
        resolved={**about, "config": saved.config.model_dump(mode="json")},
        versions=versions(),
        part=part,
        importance=found.importance,
        about=facts or {},
    )
    return Evaluation(scores, rows, part, render(page))


def _scored(saved: SavedModel, data: NewData, metrics: ModelMetrics) -> tuple[int, Scores, Prepared | None]:
    """The number of rows that have targets and inputs, their scores, and all rows together if there are few blocks."""
    count, kept = 0, list[Prepared]()
    with torch.inference_mode():
        for block in data.blocks():
            kept = [*kept, block.data][: MOST_BLOCKS + 1]
            rows = valid_rows(saved, block.data)
            count += len(rows)
            for batch in rows.sequential(rows_at_a_time(saved)):
                logits = saved.model(batch)
                numbered = replace(batch, rows=batch.rows + block.first_row)
                metrics.update(logits, saved.model.losses(logits, batch), numbered)
    return count, metrics.compute(), joined(kept) if len(kept) <= MOST_BLOCKS else None
