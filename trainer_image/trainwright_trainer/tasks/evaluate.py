"""The task evaluate: the scores of a saved model on a data set with targets."""

from __future__ import annotations

import json

from trainwright_api.problems import Mistakes
from trainwright_trainer.callbacks.console import Console
from trainwright_trainer.callbacks.events import Scores
from trainwright_trainer.callbacks.formats import counted, score
from trainwright_trainer.callbacks.json_lines import nan_to_none
from trainwright_trainer.job.job import Job
from trainwright_trainer.job.versions import versions
from trainwright_trainer.loop.evaluator import evaluate as scores_of
from trainwright_trainer.metrics.figures import figures_of
from trainwright_trainer.metrics.model import model_metrics
from trainwright_trainer.report.data import ReportData
from trainwright_trainer.report.page import render
from trainwright_trainer.storage.registry import storage_at
from trainwright_trainer.tasks.artifacts import feature_summaries
from trainwright_trainer.tasks.saved_model import ROWS_AT_A_TIME, computing, evaluation_data, model_of, valid_rows

# The word for an evaluated row: all rows of new data ("given"), or the test rows of the training data ("test").
_ROW = {"given": "row", "test": "test row"}
_NO_ROW = {
    "given": "no row of {!r} can judge the model: each lacks a target, or an input that drops the row.",
    "test": "the model was trained on {!r} without test rows. Give other data with --dataset.",
}


def evaluate(job: Job, console: Console) -> Scores:
    """Score a data set with targets. Writes `evaluation.json` and `evaluation.html` to the output folder."""
    saved = model_of(job)
    data, part = evaluation_data(saved, job)
    console.log_notices(data.notices, data.dataset)
    rows = valid_rows(saved, data)
    if not len(rows):
        raise Mistakes.one("dataset", _NO_ROW[part].format(data.dataset))
    metrics = model_metrics(saved.config, saved.statistics, figures=True)
    with computing(saved, rows, job):
        scores = scores_of(saved.model, rows, ROWS_AT_A_TIME, metrics)
    shown = [f"{name}.{metric} {score(value)}" for name, found in scores.items() for metric, value in found.items()]
    page = ReportData(
        title=str(saved.about["name"]),
        started=None,
        history=(),
        ended=None,
        outputs=figures_of(metrics),
        features=list(feature_summaries(saved.config, saved.statistics)),
        resolved={"model": str(job.model), "dataset": job.dataset, "config": saved.config.model_dump(mode="json")},
        versions=versions(),
        part=part,
    )
    plain = {"dataset": job.dataset, "model": str(job.model), "part": part, "rows": len(rows), "scores": scores}
    folder = storage_at(str(job.output), job.keys.artifacts)
    folder.write("evaluation.html", [render(page).encode()])
    folder.write("evaluation.json", [json.dumps(nan_to_none(plain), indent=2).encode() + b"\n"])
    console.log(
        f"{data.dataset}: {counted(len(rows), _ROW[part])} · " + " · ".join(shown),
        f"report {job.output / 'evaluation.html'} · scores {job.output / 'evaluation.json'}",
    )
    return scores
