"""The command compare: several runs in one table, and on one page."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from trainwright_api.problems import Mistakes, Problem
from trainwright_trainer.callbacks import formats
from trainwright_trainer.callbacks.history import History
from trainwright_trainer.callbacks.json_lines import nan_to_none
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.report.compare_page import render
from trainwright_trainer.report.runs import (
    RunRecord,
    best_of,
    differences,
    labelled,
    other_rows_line,
    telling_metrics,
)
from trainwright_trainer.rundir import json_text, layout
from trainwright_trainer.rundir.record import Run, read_run
from trainwright_trainer.search.folder import RESULT
from trainwright_trainer.search.log import RUNS
from trainwright_trainer.storage.base import Storage
from trainwright_trainer.storage.location import Place, place_of
from trainwright_trainer.storage.registry import storage_of

PAGE = "compare.html"
MOST_SETTINGS = 40
_WIDEST_SETTING = 24


def compared(places: Sequence[str], page: str | None, *, as_json: bool) -> Iterator[str]:
    """Write the page, and yield the lines to print. `page`: its path; None for `PAGE` in the working folder.

    Raises `Mistakes` for each place that has no run with rounds, all at once, and `EnvironmentFailure`.
    """
    runs = records(places)
    target = place_of(page or PAGE, "--output")
    _write(target, render(runs))
    if as_json:
        yield from map(_json, runs, _settings_of(runs))
        return
    yield from _table(runs)
    yield from _differing(runs)
    yield f"page {target}"


def records(places: Sequence[str]) -> list[RunRecord]:
    """The runs in their folders. Raises `Mistakes` for all places without a run."""
    found, problems = list[tuple[str, Mapping[str, Any], Mapping[str, Any], Run | None]](), list[Problem]()
    for place in places:
        storage = storage_of(place_of(place.rstrip("/") or place, "RUN"))
        run = read_run(storage)
        metrics = _read(storage, layout.METRICS)
        if metrics is None:
            problems.append(Problem("RUN", _why_none(place, storage, run)))
        else:
            found.append((place, metrics, _read(storage, layout.RESOLVED) or {}, run))
    if problems:
        raise Mistakes(problems)
    labels = labelled([metrics["name"] for _, metrics, _, _ in found], [place for place, _, _, _ in found])
    return [_record(label, *one) for label, one in zip(labels, found, strict=True)]


def _record(
    label: str, place: str, metrics: Mapping[str, Any], resolved: Mapping[str, Any], run: Run | None
) -> RunRecord:
    rounds = History.from_json(metrics).rounds
    end = metrics["end"] or {}
    step = end.get("best_step", (metrics["best"] or {}).get("step"))
    source = run.start.job.get("resumeFrom") if run and run.start else None
    return RunRecord(
        label=label,
        place=place,
        state="not ended" if run is None else run.state,
        rounds=rounds,
        best=next((one for one in rounds if one.step == step), None),
        test=_known(end.get("test", {})),
        seconds=end.get("seconds", rounds[-1].seconds if rounds else math.nan),
        monitored=metrics["validation_metric"],
        resolved={**resolved.get("resolved", {}), **({"resumeFrom": source} if source else {})},
        test_rows=metrics.get("split_rows", {}).get("test"),
    )


def _known(scores: Mapping[str, Mapping[str, float | None]]) -> dict[str, dict[str, float]]:
    return {
        output: {metric: math.nan if value is None else value for metric, value in found.items()}
        for output, found in scores.items()
    }


def _read(storage: Storage, name: str) -> dict[str, Any] | None:
    """None if the file is absent or of another format."""
    try:
        body = json_text.parse(storage.read(name))
        return dict(body) if body["format"] == layout.FORMAT else None
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def _why_none(place: str, storage: Storage, run: Run | None) -> str:
    if run is not None:
        return f"{place!r} is a run without an evaluation yet ({run})"
    folder = place.rstrip("/")
    if storage.exists(RESULT):
        return f"{place!r} holds a search: name runs of its trials, as {folder}/{RUNS}0001"
    if storage.exists("model.json"):
        return f"{place!r} holds a model: name the folder of the run that has trained it"
    return f"{place!r} holds no run: name the folder that `trainwright train` has written, or its URI"


def _write(target: Place, page: str) -> None:
    """Raises `EnvironmentFailure`."""
    if not isinstance(target, Path):
        storage_of(target.parent).write(target.name, [page.encode()])
        return
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(page, encoding="utf-8")
    except OSError as error:
        raise EnvironmentFailure(f"{target} cannot be written: {error.strerror or error}") from error


def _table(runs: Sequence[RunRecord]) -> Iterator[str]:
    """A line for each run: its state, its best epoch, the monitored metric, and a test score of each output."""
    monitored = list(dict.fromkeys(run.monitored for run in runs))
    columns = [("validation " + name, [run.validation(name) for run in runs], name) for name in monitored]
    columns += [("test " + name, [run.test_score(name) for run in runs], name) for name in telling_metrics(runs)]
    head = ["run", "state", "best epoch", "time", *(title for title, _, _ in columns)]
    rows = [
        [
            run.label,
            run.state,
            formats.NOTHING if run.best is None else formats.count(run.best.epoch + 1),
            formats.duration(run.seconds),
            *(_starred(values[place], values, name) for _, values, name in columns),
        ]
        for place, run in enumerate(runs)
    ]
    lines = list(_aligned([head, *rows]))
    if max(map(len, lines)) > shutil.get_terminal_size().columns:  # one column for each run
        lines = list(_aligned(list(zip(*[head, *rows], strict=True)), left=1))
    yield from lines
    if columns and len(runs) > 1:
        yield "* the best of its column"
    if line := other_rows_line(runs):
        yield line


def _starred(value: float, values: Sequence[float], name: str) -> str:
    is_best = value == best_of(values, name.rpartition(".")[2]) and len(values) > 1
    return f"{formats.score(value)}{'*' if is_best else ' '}"


def _differing(runs: Sequence[RunRecord]) -> Iterator[str]:
    found = differences(runs)
    if len(runs) < 2:
        return
    if not found:
        yield "all settings are equal"
        return
    yield ""
    rows = [["setting", *(run.label for run in runs)]]
    rows += [[path, *(formats.shorten(text, _WIDEST_SETTING) for text in texts)] for path, texts in found.items()]
    yield from _aligned(rows[: MOST_SETTINGS + 1], left=len(rows[0]))
    if len(found) > MOST_SETTINGS:
        yield f"and {formats.counted(len(found) - MOST_SETTINGS, 'more setting')}, on the page"


def _aligned(rows: Sequence[Sequence[str]], *, left: int = 2) -> Iterator[str]:
    """The cells in columns: the first `left` ones to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            cell.ljust(width) if place < left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "   ".join(cells).rstrip()


def _settings_of(runs: Sequence[RunRecord]) -> list[dict[str, str]]:
    found = differences(runs)
    return [{path: texts[place] for path, texts in found.items()} for place in range(len(runs))]


def _json(run: RunRecord, settings: Mapping[str, str]) -> str:
    body = {
        "run": run.label,
        "place": run.place,
        "state": run.state,
        "best_epoch": None if run.best is None else run.best.epoch,
        "seconds": run.seconds,
        "monitored": run.monitored,
        "validation": {} if run.best is None else run.best.scores.get("validation", {}),
        "test": run.test,
        "settings": settings,
    }
    return json.dumps(nan_to_none(body), ensure_ascii=False, allow_nan=False)
