"""The count of communication beside the backward pass, on traces of a few events."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from bench.overlap import BACKWARD, HOROVOD, PRODUCT, overlapping


def event(name: str, start: int, end: int) -> Any:
    return SimpleNamespace(name=name, time_range=SimpleNamespace(start=start, end=end))


PASS = [event(BACKWARD, 100, 200), event(PRODUCT, 110, 130), event(PRODUCT, 150, 170)]


@pytest.mark.parametrize(
    ("sums", "found"),
    [
        pytest.param([], (0, 0), id="no sum"),
        pytest.param([event("gloo:all_reduce", 131, 151)], (1, 1), id="a product begins while it runs"),
        pytest.param([event("gloo:all_reduce", 120, 125)], (1, 1), id="within a product"),
        pytest.param([event("gloo:all_reduce", 131, 149)], (1, 0), id="between two products, which wait for it"),
        pytest.param([event("gloo:all_reduce", 171, 199)], (1, 0), id="after the last product"),
        pytest.param([event("gloo:all_reduce", 10, 90), event("gloo:all_reduce", 201, 220)], (0, 0), id="elsewhere"),
        pytest.param([event(HOROVOD, 131, 132)], (1, 1), id="Horovod's, whose end is not in the trace"),
        pytest.param([event(HOROVOD, 171, 172)], (1, 0), id="Horovod's last"),
    ],
)
def test_sums_beside_products(sums: list[Any], found: tuple[int, int]) -> None:
    assert overlapping([*PASS, *sums]) == found
