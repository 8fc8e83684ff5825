"""Runs side by side: their scores, their curves and the differences between their configs. No torch here."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trainwright_trainer.callbacks import formats
from trainwright_trainer.callbacks.events import Evaluated, Scores
from trainwright_trainer.report.words import HEADLINE_METRICS

# Facts of a run that say nothing about the reason for its scores.
# The values that the recipe has chosen are those of config.trainer.
_LEFT_OUT = ("name", "threads", "rows_per_second", "checkpoint", "dataset.path", "dataset.cache", "recipe.trainer")
_SETTINGS_OF_ROWS = (
    "dataset.content",
    *(f"config.preprocessing.{word}" for word in ("split", "sample_ratio", "sample_size")),
)
_HASH_DIGITS = 12
_DRAWN_SPLITS = {"random", "stratify"}
"""The splits that depend on the seed."""
# Lists of objects with a name, which are compared by that name.
_NAMED = ("input_features", "output_features")


@dataclass(frozen=True)
class RunRecord:
    """A run as its folder describes it. `test` and `seconds` are those of the end; empty and NaN while it trains.

    `monitored`: the metric that decides the best epoch, such as `late.roc_auc`. `resolved`: resolved.json, and the
    source of `resumeFrom`. `test_rows`: None in a run of an earlier version.
    """

    label: str
    place: str
    state: str
    rounds: Sequence[Evaluated]
    best: Evaluated | None
    test: Scores
    seconds: float
    monitored: str
    resolved: Mapping[str, Any]
    test_rows: int | None = None

    def validation(self, name: str) -> float:
        """The validation score of the best round; NaN without one."""
        output, _, metric = name.rpartition(".")
        scores = self.best.scores.get("validation", {}) if self.best else {}
        return scores.get(output, {}).get(metric, math.nan)

    def test_score(self, name: str) -> float:
        """The test score; NaN without one."""
        output, _, metric = name.rpartition(".")
        return self.test.get(output, {}).get(metric, math.nan)


def labelled(names: Sequence[str], places: Sequence[str]) -> list[str]:
    """A label for each run: its name, or the parts of its place that differ if names are equal."""
    if max(Counter(names).values(), default=0) <= 1:
        return list(names)
    parts = [place.rstrip("/").split("/") for place in places]
    for length in range(1, max(map(len, parts), default=0) + 1):
        labels = ["/".join(part[-length:]) for part in parts]
        if len(set(labels)) == len(labels):
            return labels
    return [f"{place} ({number})" for number, place in enumerate(places, 1)]


def scored_metrics(runs: Sequence[RunRecord]) -> list[str]:
    """All test scores of any run, as `output.metric`, without the combined loss, in their first order."""
    names = (f"{output}.{metric}" for run in runs for output, found in run.test.items() for metric in found)
    return [name for name in dict.fromkeys(names) if not name.startswith("combined.")]


def telling_metrics(runs: Sequence[RunRecord]) -> list[str]:
    """One test metric for each output: the monitored one, else the first of a few that an output has."""
    every = scored_metrics(runs)
    found = []
    for output in dict.fromkeys(name.rpartition(".")[0] for name in every):
        own = [name for name in every if name.rpartition(".")[0] == output]
        watched = [run.monitored for run in runs if run.monitored in own and not run.monitored.endswith(".loss")]
        known = [f"{output}.{metric}" for metric in HEADLINE_METRICS if f"{output}.{metric}" in own]
        found.append(next(iter((*watched, *known, *own))))
    return found


def best_of(values: Sequence[float], metric: str) -> float | None:
    """The best value; None if no value is known."""
    known = [value for value in values if math.isfinite(value)]
    return (min if formats.lower_is_better(metric) else max)(known, default=None)


def differences(runs: Sequence[RunRecord]) -> dict[str, list[str]]:
    """The settings that are not equal in all runs: path → one text for each run, `–` where a run has none.

    A feature that some run lacks is one line with its type. Of a section whose type differs, the settings that one of
    the types lacks are left out.
    """
    each = [dict(_settings("", run.resolved)) for run in runs]
    paths = dict.fromkeys(path for one in each for path in one)
    rows = {path: [one.get(path, formats.NOTHING) for one in each] for path in paths}
    differing = {path: texts for path, texts in rows.items() if len(set(texts)) > 1}
    if differing.get("batching.learning_rate") == differing.get("config.trainer.learning_rate"):
        differing.pop("batching.learning_rate", None)  # nothing has scaled the rates
    partial = {path.removesuffix(".type") for path in differing if path.endswith(".type")}
    return {
        path.removesuffix(".type") if path.endswith("].type") else path: texts
        for path, texts in differing.items()
        if formats.NOTHING not in texts or not _is_below(path.removesuffix(".type"), partial)
    }


def other_rows_line(runs: Sequence[RunRecord]) -> str | None:
    """A line that names the settings by which the runs have different test rows, or the numbers of these rows.

    None if the rows are the same. An output feature may drop some.
    """
    draws = {run.resolved.get("config", {}).get("preprocessing", {}).get("split", {}).get("type") for run in runs}
    paths = (*_SETTINGS_OF_ROWS, *(["seed"] if draws & _DRAWN_SPLITS else []))
    found = [path for path in differences(runs) if path in paths or _is_below(path, paths)]
    counts = dict.fromkeys(run.test_rows for run in runs if run.test_rows is not None)
    if len(counts) > 1:
        found.append(f"{' and '.join(map(formats.count, counts))} rows")
    return f"the test rows are not the same ({', '.join(found)}), which alone can change a score" if found else None


def _is_below(path: str, sections: Collection[str]) -> bool:
    return any(path.startswith(f"{section}.") for section in sections)


def curves_of(runs: Sequence[RunRecord]) -> dict[str, dict[str, list[tuple[float, float]]]]:
    """Validation curves, or those of training without validation: metric → label → points by epoch."""
    found: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for run in runs:
        part = "validation" if any("validation" in one.scores for one in run.rounds) else "train"
        for at, one in zip(_epochs(run.rounds), run.rounds, strict=True):
            for output, metrics in one.scores.get(part, {}).items():
                for metric, value in metrics.items():
                    found.setdefault(f"{output}.{metric}", {}).setdefault(run.label, []).append((at, value))
    outputs = {name.rpartition(".")[0] for name in found} - {"combined"}
    if len(outputs) == 1 and "combined.loss" in found:  # it is the loss of the only output
        del found["combined.loss"]
    return found


def _epochs(rounds: Sequence[Evaluated]) -> Iterator[float]:
    """The position of each round on the axis of epochs. The rounds of one epoch are evenly spaced in it."""
    counts, seen = Counter(one.epoch for one in rounds), Counter[int]()
    for one in rounds:
        seen[one.epoch] += 1
        yield one.epoch + seen[one.epoch] / counts[one.epoch]


def _settings(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if path in _LEFT_OUT or (path == "recipe" and value is None):
        return
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _settings(f"{path}.{key}" if path else str(key), item)
    elif path.rpartition(".")[2] in _NAMED and isinstance(value, list):
        for item in value:
            own = {key: setting for key, setting in item.items() if key not in ("name", "proc_column")}
            yield from _settings(f"{path}[{item['name']}]", own)
    elif path == "dataset.content" and isinstance(value, str):
        yield path, value[:_HASH_DIGITS]
    else:
        yield path, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
