from __future__ import annotations

import pytest
from bench.results import result
from bench.strategies import SHARDED, section_of, table, theory


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [("ddp", (1, 1, 2)), ("fsdp", (0.25, 0.25, 0.5)), ("ZeRO 1", (1, 1, 0.5)), ("ZeRO 2", (1, 0.25, 0.5))],
)
def test_the_theory_on_four_ranks(strategy, expected):
    assert tuple(theory(strategy, part, 4) for part in ("parameters", "gradients", "optimizer")) == expected


def test_a_row_for_each_measured_strategy():
    found = {f"fsdp, 2 ranks: {part}": result(0.5, "copies") for part in ("parameters", "gradients", "optimizer")}
    assert table(found).splitlines()[2:] == ["| fsdp | 2 | 0.50 (0.50) | 0.50 (0.50) | 0.50 (1.00) |"]


def test_each_strategy_has_a_section():
    assert {section_of(strategy).type for strategy in SHARDED} == {"ddp", "fsdp", "deepspeed"}
    assert section_of("ZeRO 3").stage == 3
