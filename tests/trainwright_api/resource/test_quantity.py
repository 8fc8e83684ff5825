"""Quantities of Kubernetes as numbers."""

from __future__ import annotations

from typing import Any

import pytest

from trainwright_api.resource.quantity import amount


@pytest.mark.parametrize(
    ("quantity", "value"),
    [
        ("500m", 0.5),
        ("2", 2.0),
        (2, 2.0),
        ("1.5", 1.5),
        (".5", 0.5),
        ("16Gi", 16 * 2.0**30),
        ("16G", 16e9),
        ("1Ki", 1024.0),
        ("100k", 1e5),
        ("1e3", 1000.0),
        ("1E3", 1000.0),
        ("1E", 1e18),
        ("250u", 250e-6),
        ("nonsense", 0.0),
        (None, 0.0),
    ],
)
def test_quantities(quantity: Any, value: float) -> None:
    assert amount(quantity) == pytest.approx(value)
