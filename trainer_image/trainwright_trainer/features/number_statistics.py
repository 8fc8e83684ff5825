"""The statistics of a number feature, from the moments of its training rows: what `encode` and the model need."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from trainwright_trainer.features import moments
from trainwright_trainer.features.column import Feature, Statistics
from trainwright_trainer.features.errors import WrongTypeError
from trainwright_trainer.features.moments import Moments

COARSE = 0.02
"""The largest step between encoded numbers, in standard deviations, without a notice."""


@dataclass(frozen=True)
class Second:
    """The state of one block in the last round. `logs`: the state of log1p(numbers) for a target encoded by log1p."""

    counts: npt.NDArray[np.int64]
    logs: Moments | None


def merged(states: Sequence[Any]) -> Moments | Second:
    """The state of all blocks of a round."""
    if not isinstance(states[0], Second):
        return moments.merge(states)
    counts: npt.NDArray[np.int64] = np.sum([state.counts for state in states], axis=0)
    logs = [state.logs for state in states if state.logs is not None]
    return Second(counts, moments.merge(logs) if logs else None)


def needs_quartiles(feature: Feature) -> bool:
    """True if quartiles are needed. They are exact, so they need all values at once."""
    return bool(feature.preprocessing.normalization == "iq")


def encoded_moments(logs: Moments | None, found: Statistics) -> dict[str, float]:
    """Mean and standard deviation of a target's encoded numbers. The model's output layer is initialised with them."""
    if logs is not None:
        return {"mean": logs.mean, "std": logs.std}
    return {"mean": (found["mean"] - found["shift"]) / found["scale"], "std": found["std"] / abs(found["scale"])}


def described(feature: Feature, state: Moments, so_far: Statistics) -> dict[str, Any]:
    found: dict[str, Any] = {
        "type": "number",
        "rows": state.rows,
        "missing": state.missing,
        "mean": state.mean,
        "std": state.std,
        "min": state.minimum,
        "max": state.maximum,
    }
    if needs_quartiles(feature):
        found.update(zip(("q1", "q2", "q3"), state.quartiles(), strict=True))
    found.update(_scale(feature.preprocessing.normalization, found))
    found["fill"] = _fill(feature, feature.strategy, state)
    if so_far:
        bounds = so_far["outliers"]
        found["outliers"] = {"low": bounds["low"], "high": bounds["high"], "count": bounds["inside"] - state.count}
        found["outlier_fill"] = _fill(feature, feature.preprocessing.outlier_strategy, state)
    return found


def coarse_step(found: Statistics) -> float | None:
    """The step of float32 at the largest encoded number, in the column's own units, if it is large beside the standard
    deviation; else None. (The steps of log1p grow with the numbers.)"""
    if found["normalization"] == "log1p":
        return None
    reach = max(abs(found["min"] - found["shift"]), abs(found["max"] - found["shift"]))
    step = step_of_float32(reach / abs(found["scale"])) * abs(found["scale"])
    return step if step > COARSE * found["std"] > 0 else None


def step_of_float32(value: float) -> float:
    """The difference between the float32 numbers around the value."""
    return math.ldexp(1.0, math.frexp(value)[1] - 24)


def _scale(normalization: str | None, found: Statistics) -> dict[str, Any]:
    """`shift` and `scale`: encoded = (x - shift) / scale; log1p has shift 0 and scale 1. A scale is never 0."""
    if normalization == "log1p" and found["min"] <= -1:
        raise WrongTypeError(f"holds {found['min']:g}, and log1p needs values above -1. Use another normalization.")
    shift, scale = {
        "zscore": (found["mean"], found["std"]),
        "minmax": (found["min"], found["max"] - found["min"]),
        "iq": (found.get("q2"), found.get("q3", 0) - found.get("q1", 0)),
    }.get(normalization or "", (0.0, 1.0))
    return {"normalization": normalization, "shift": shift, "scale": scale or 1.0}


def _fill(feature: Feature, strategy: str, state: Moments) -> float | None:
    """The fill value in the column's own units; None if a neighbour fills the gap or the row is dropped."""
    if strategy == "fill_with_const":
        fill = float(feature.preprocessing.fill_value)
        if feature.preprocessing.normalization == "log1p" and fill <= -1:
            raise WrongTypeError(f"cannot be filled with {fill:g}: log1p needs values above -1.")
        return fill
    return {"fill_with_mean": state.mean, "fill_with_mode": state.mode()}.get(strategy)
