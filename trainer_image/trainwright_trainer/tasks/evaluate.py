"""The task evaluate: the scores of a saved model on a data set with targets, block by block."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch

from trainwright_api.problems import Mistakes
from trainwright_trainer.analysis.subject import Subject
from trainwright_trainer.callbacks.console import notice_lines
from trainwright_trainer.callbacks.formats import counted, score
from trainwright_trainer.callbacks.json_lines import nan_to_none
from trainwright_trainer.data.content import explained
from trainwright_trainer.data.new_data import EncodedBlock, NewData
from trainwright_trainer.data.prepared import Prepared, joined
from trainwright_trainer.job.job import Job
from trainwright_trainer.job.versions import versions
from trainwright_trainer.metrics.figures import figures_of
from trainwright_trainer.metrics.model import ModelMetrics, model_metrics
from trainwright_trainer.report.data import ReportData
from trainwright_trainer.report.page import render
from trainwright_trainer.storage.registry import storage_at
from trainwright_trainer.tasks.artifacts import feature_summaries
from trainwright_trainer.tasks.blocks import Blocks, BlocksHere, Log
from trainwright_trainer.tasks.report_analyses import Analyses, AnalysisSettings, analyses
from trainwright_trainer.tasks.report_facts import facts_of
from trainwright_trainer.tasks.result import Evaluation
from trainwright_trainer.tasks.saved_model import (
    SavedModel,
    computing,
    evaluation_data,
    model_of,
    passes_of,
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


def evaluate(job: Job, log: Log, blocks: Blocks) -> Evaluation:
    """Score a data set with targets. Writes `evaluation.json` and `evaluation.html` to the output folder."""
    folder = storage_at(str(job.output), job.keys.artifacts)
    folder.check_writable(exclusive=False)
    saved = model_of(job, blocks.device)
    data, part = evaluation_data(saved, job)
    with computing(saved, job.options.threads, job.cpus):
        about = {"model": str(job.model), "dataset": job.shown_dataset}
        content = saved.about["content"] if part == "test" else ""
        settings = AnalysisSettings(job.spec.report.max_seconds, log)
        found = evaluation_of(saved, data, part, about, settings, facts_of(job, job.shown_dataset, content), blocks)
    shown = [f"{name}.{metric} {score(value)}" for name, one in found.items() for metric, value in one.items()]
    plain = {**about, "part": part, "rows": found.rows, "scores": found.scores}
    folder.write("evaluation.html", [found.page.encode()])
    folder.write("evaluation.json", [json.dumps(nan_to_none(plain), indent=2).encode() + b"\n"])
    log(
        *notice_lines(data.notices(), data.name),
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
    blocks: Blocks | None = None,
) -> Evaluation:
    """The scores and the page of a data set; `about` and `facts` are shown on the page.

    The analyses of the report are computed if `settings` is given and the data have at most `MOST_BLOCKS`
    blocks. `blocks`: where the blocks are computed; None: in this process. Raises `Mistakes` if no row has targets.
    """
    metrics = model_metrics(saved.config, saved.statistics, figures=True)
    rows, whole = _scored(saved, data, metrics, blocks or BlocksHere())
    scores = metrics.compute()
    if not rows:
        raise Mistakes.one("dataset", _NO_ROW[part].format(data.name))
    found = Analyses(figures_of(metrics), None)
    if settings is not None and whole is not None:
        subject = Subject(saved.model, saved.config, whole, saved.about["seed"], rows_at_a_time(saved), saved.device)
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


@dataclass(frozen=True)
class Measured:
    """The rows of a block that have targets and inputs, and the state of their metrics. `data`: of a first block."""

    rows: int
    state: Mapping[str, torch.Tensor]
    data: Prepared | None


@dataclass(frozen=True)
class Measure:
    """Measures the model on the rows of a block. The metrics of blocks are merged in the order of the blocks, so they
    do not depend on where a block is computed."""

    saved: SavedModel

    def __call__(self, block: EncodedBlock) -> Measured:
        rows = valid_rows(self.saved, block.data)
        self._metrics.reset()
        with torch.inference_mode():
            for batch in passes_of(self.saved, rows):
                logits = self.saved.model(batch)
                numbered = replace(batch, rows=batch.rows + block.first_row)
                self._metrics.update(logits, self.saved.model.losses(logits, batch), numbered)
        return Measured(len(rows), self._metrics.folded(), block.data if block.number <= MOST_BLOCKS else None)

    @cached_property
    def _metrics(self) -> ModelMetrics:
        return model_metrics(self.saved.config, self.saved.statistics, figures=True)


def _scored(saved: SavedModel, data: NewData, metrics: ModelMetrics, blocks: Blocks) -> tuple[int, Prepared | None]:
    """Add all blocks to `metrics`. Returns the number of scored rows, and all rows together if there are few blocks."""
    count, kept, confirm = 0, list[Prepared](), data.watch()
    with explained(confirm):
        for found in blocks.map(saved, data, Measure):
            count += found.rows
            metrics.add(found.state)
            kept += [found.data] if found.data is not None else []
        confirm()
    if len(kept) > MOST_BLOCKS:
        return count, None
    return count, replace(joined(kept), statistics=saved.statistics)
