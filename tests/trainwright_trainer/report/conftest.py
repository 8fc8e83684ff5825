from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from trainwright_trainer.callbacks.events import Ended, Evaluated, Started
from trainwright_trainer.features.distribution import Frequencies, Histogram
from trainwright_trainer.report.data import (
    Calibration,
    ClassRoc,
    ClassScores,
    ConfusionMatrix,
    FeatureImportance,
    FeatureSummary,
    Importance,
    Importances,
    OutputFigures,
    PrecisionRecall,
    PredictedAgainstTrue,
    ReportData,
    Residuals,
    RocCurve,
    Thresholds,
    WorstRow,
)

Make = Callable[..., Any]


def started(**changes: Any) -> Started:
    whole = Started(
        name="flights",
        rows=336_776,
        split_rows={"train": 235_712, "validation": 33_689, "test": 67_375},
        inputs=14,
        outputs={"late": "binary"},
        cache_key="9f3c12ab",
        cache_hit=True,
        batch_size=1024,
        optimizer="adam",
        learning_rate=0.001,
        epochs=20,
        steps_per_epoch=231,
        threads=2,
        validation_metric="late.roc_auc",
        attempt=1,
    )
    return replace(whole, **changes)


def rounds(count: int, outputs: tuple[str, ...] = ("late",), *, validation: bool = True) -> list[Evaluated]:
    """Curves that fall and rise as real ones do; the best is at two thirds."""
    best = count * 2 // 3
    return [_round(epoch, count, outputs, validation, epoch <= best) for epoch in range(count)]


def _round(epoch: int, count: int, outputs: tuple[str, ...], validation: bool, best: bool) -> Evaluated:
    x = epoch / max(1, count - 1)
    late = {"loss": 0.42 + 0.2 * math.exp(-5 * x) + 0.03 * x * x, "roc_auc": 0.745 - 0.15 * math.exp(-6 * x)}
    early = {
        "loss": 0.40 + 0.22 * math.exp(-5 * x),
        "roc_auc": 0.78 - 0.18 * math.exp(-5 * x),
        "accuracy": 0.7 + 0.1 * x,
    }
    scores = {"train": {"combined": {"loss": early["loss"]}, **dict.fromkeys(outputs, early)}}
    if validation:
        scores["validation"] = {"combined": {"loss": late["loss"]}, **dict.fromkeys(outputs, late)}
    return Evaluated(
        epoch, (epoch + 1) * 231, 1.3 * (epoch + 1), 201_000 - 9_000 * math.sin(epoch), 0.001, scores, best
    )


def binary_output(name: str = "late") -> OutputFigures:
    share = [0.03, 0.11, 0.18, 0.27, 0.33, 0.46, 0.52, 0.66, 0.7, math.nan]
    rates = [i / 50 for i in range(51)]
    return OutputFigures(
        name=name,
        type="binary",
        scores={"roc_auc": 0.74812, "accuracy": 0.7934, "precision": 0.61, "recall": 0.41, "loss": 0.4312},
        baselines={
            "always the most frequent class": {"accuracy": 0.7641, "roc_auc": 0.5, "loss": 0.5467},
            "logistic regression on the inputs": {"accuracy": 0.7812, "roc_auc": 0.7011, "loss": 0.4702},
        },
        confusion=ConfusionMatrix(["on time", "late"], [[47_120, 4_366], [9_554, 6_335]]),
        roc=RocCurve(rates, [rate**0.34 for rate in rates], 0.74812),
        calibration=Calibration(
            [0.05 + i / 10 for i in range(9)] + [math.nan],
            share,
            [9000, 14000, 12000, 9000, 7000, 5000, 3000, 900, 120, 0],
        ),
        classes=[ClassScores("on time", 0.83, 0.92, 0.87, 51_486), ClassScores("late", 0.59, 0.41, 0.48, 15_889)],
        precision_recall=PrecisionRecall(rates, [1 - 0.76 * rate for rate in rates], 0.5431, 0.2358),
        thresholds=Thresholds(
            rates,
            [0.24 + 0.7 * rate for rate in rates],
            [1 - rate for rate in rates],
            [0.38 - 0.3 * rate for rate in rates],
            0.5,
        ),
        intervals={"roc_auc": (0.7432, 0.7531), "accuracy": (0.7901, 0.7966)},
        worst=worst_rows(),
        worst_columns=("late", *(f"distance_{i}" for i in range(20))),
    )


PICTURE = {"photo": "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="}


def worst_rows() -> list[WorstRow]:
    """Nine rows; the file was not read as far as the last one."""
    values = {"late": "on time", **{f"distance_{i}": f"{117 * i:,}" for i in range(20)}}
    return [WorstRow(1033 * i, 6.0 - i / 3, "late (99 %)", values if i < 8 else None, PICTURE) for i in range(9)]


def importance(*outputs: str, inputs: int = 14) -> Importances:
    found = [
        FeatureImportance(f"distance_{i}", 0.2 * 0.7**i - 0.001, 0.16 * 0.7**i - 0.002, 0.24 * 0.7**i, 0.70 + 0.003 * i)
        for i in range(inputs)
    ]
    each = [Importance(output, 0.4312, "roc_auc", 0.7471, found) for output in outputs]
    return Importances("validation", 2000, 4, each)


def category_output(classes: int, name: str = "carrier") -> OutputFigures:
    labels = [f"class {i}" if i % 7 else f"class {i} with a rather long name" for i in range(classes)]
    counts = [
        [4000 if i == j else (37 * i + 91 * j) % 97 * (3 if abs(i - j) < 3 else 0) for j in range(classes)]
        for i in range(classes)
    ]
    return OutputFigures(
        name,
        "category",
        {"accuracy": 0.71, "hits_at_k": 0.93},
        {"the mode": {"accuracy": 0.12}},
        ConfusionMatrix(labels, counts),
        classes=[ClassScores(label, 0.7, 0.6, 0.65, 4000 - i) for i, label in enumerate(labels)],
        class_rocs=[
            ClassRoc(label, RocCurve([0.0, 0.1, 1.0], [0.0, 0.9 - i / 100, 1.0], 0.9 - i / 200))
            for i, label in enumerate(labels)
        ],
        worst=worst_rows(),
        worst_columns=(name,),
    )


def number_output(name: str = "delay") -> OutputFigures:
    edges = [-60 + 12 * i for i in range(41)]
    counts = [
        [int(900 * math.exp(-((i - 8) ** 2) / 60 - ((j - 0.7 * i - 2) ** 2) / 9)) for j in range(40)] for i in range(40)
    ]
    scores = {"mean_absolute_error": 18.2, "root_mean_squared_error": 39.91, "r2": 0.1294, "loss": 1592.8}
    baselines = {"always the mean": {"mean_absolute_error": 23.4, "root_mean_squared_error": 42.8, "r2": 0.0}}
    groups = [float(10 * i) for i in range(10)]
    residuals = Residuals(
        [-30.0 + 2 * i for i in range(31)],
        [int(900 * math.exp(-((i - 14) ** 2) / 30)) for i in range(30)],
        groups,
        [-12.0 - i for i in range(10)],
        [1.0 - i / 5 for i in range(10)],
        [14.0 + i for i in range(10)],
    )
    against = PredictedAgainstTrue(edges, counts)
    return OutputFigures(
        name, "number", scores, baselines, predicted_against_true=against, residuals=residuals, worst=worst_rows()
    )


def features(count: int) -> list[FeatureSummary]:
    return [_feature(index) for index in range(count)]


def _feature(index: int) -> FeatureSummary:
    if index % 3 == 1:
        values = [(f"carrier {i}", 9000 // (i + 1)) for i in range(16)]
        spread = Frequencies(values, sum(rows for _, rows in values))
        return FeatureSummary(f"carrier_{index}", "category", "input", {"classes": "16", "missing": "0 %"}, spread)
    shape = Histogram("17", "4,983", [int(8000 * math.exp(-((i - 6) ** 2) / 12)) for i in range(20)])
    facts = {"mean": "1,040", "std": "735.6", "min": "17", "max": "4,983", "missing": "1.2 %"}
    return FeatureSummary(f"distance_{index}", "number", "input", facts, shape)


def report(**changes: Any) -> ReportData:
    whole = ReportData(
        title="flights",
        started=started(),
        history=rounds(20),
        ended=Ended(31.2, 13, 14 * 231, {"late": {"roc_auc": 0.748}}, "early stopping"),
        outputs=[binary_output()],
        features=[
            FeatureSummary(
                "late",
                "binary",
                "output",
                {"positive": "23.6 %", "missing": "2.8 %"},
                Frequencies([("on time", 180_200), ("late", 55_512)], 235_712),
            ),
            *features(14),
        ],
        resolved={"trainer": {"epochs": 20, "learning_rate": 0.001}, "input_features": [{"name": "distance"}] * 14},
        versions={"trainwright": "0.1.0", "torch": "2.15.0", "python": "3.11.9"},
        importance=importance("late"),
        about={"date": "2026-11-25 00:31 UTC", "machine": "vm · 2 CPUs", "SHA-256 of the data": "9f3c12ab" * 8},
    )
    return replace(whole, **changes)


LONG = "a_column_that_somebody_named_without_a_single_space_" * 4
HTML = "<script>alert('x')</script> & \"late\""


def crowded() -> ReportData:
    """Three outputs, thirty classes, two hundred features, a hundred epochs, and names that hurt."""
    outputs = [binary_output(HTML), category_output(30, LONG), number_output()]
    names = tuple(output.name for output in outputs)
    return report(
        title=LONG[:63],
        started=started(outputs={output.name: output.type for output in outputs}, epochs=100),
        history=rounds(100, names),
        outputs=outputs,
        features=[*features(198), *(replace(_feature(i), name=name) for i, name in enumerate((LONG, HTML)))],
        resolved={"input_features": [{"name": f"f{i}", "preprocessing": {"a": i, "b": [1, 2, 3]}} for i in range(200)]},
        importance=importance(*names, inputs=198),
    )


def bare() -> ReportData:
    """Return the report data of `evaluate`: without history and end."""
    return report(started=None, history=(), ended=None, features=(), resolved={}, versions={}, about={})


@pytest.fixture(params=["whole", "crowded", "bare", "one epoch", "no validation"])
def any_report(request: pytest.FixtureRequest) -> ReportData:
    kinds: dict[str, Make] = {
        "whole": report,
        "crowded": crowded,
        "bare": bare,
        "one epoch": lambda: report(history=rounds(1)),
        "no validation": lambda: report(history=rounds(8, validation=False)),
    }
    made: ReportData = kinds[request.param]()
    return made


@pytest.fixture
def make_report() -> Make:
    return report


@pytest.fixture
def make_rounds() -> Make:
    return rounds


@pytest.fixture
def make_crowded() -> Make:
    return crowded


@pytest.fixture
def outputs() -> dict[str, Make]:
    return {"binary": binary_output, "category": category_output, "number": number_output}
