"""Profiles of small tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest

from trainwright_trainer.data.datasets import DataTable
from trainwright_trainer.suggest.profile import TableProfile, profile_of

ROWS = 200


@pytest.fixture
def profile():
    """The profile of columns beside a target `y` of two classes, which no column knows."""

    def make(columns: Mapping[str, Any], y: Sequence[Any] | None = None) -> TableProfile:
        rows = len(next(iter(columns.values())))
        target = ["yes" if row * 7919 % 13 < 5 else "no" for row in range(rows)] if y is None else y
        return profile_of(DataTable(pa.table({**columns, "y": target}), "it"), "y")

    return make


@pytest.fixture
def column(profile):
    """The profile of one column."""
    return lambda values, name="x": profile({name: values}).columns[name]
