"""The table in bench/README.md: the results with a goal, and below it, per backend, the stages of both sides."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from bench.results import HERE, Book, Result, table

STAGE = re.compile(r"(?P<backend>\w+), (?P<side>baseline|ours): (?P<stage>.+)")
WHOLE = "whole"


def tables(found: Mapping[str, Result]) -> str:
    """All results. A stage that only one side has leaves the other's field empty."""
    single = {name: one for name, one in found.items() if not STAGE.fullmatch(name)}
    stages = [match for name in found if (match := STAGE.fullmatch(name))]
    backends = dict.fromkeys(match["backend"] for match in stages)
    return "\n\n".join([table(single), *("\n".join(_side_by_side(backend, found)) for backend in backends)])


def _side_by_side(backend: str, found: Mapping[str, Result]) -> Iterator[str]:
    yield from (f"| {backend}: until | baseline | ours |", "|---|---:|---:|")
    for stage in _in_order(backend, found):
        sides = (found.get(f"{backend}, {side}: {stage}") for side in ("baseline", "ours"))
        yield " | ".join([f"| {stage}", *(f"{one['value']} {one['unit']}" if one else "" for one in sides)]) + " |"


def _in_order(backend: str, found: Mapping[str, Result]) -> Sequence[str]:
    """Our stages include all of the baseline's. The total is last."""
    match = (STAGE.fullmatch(name) for name in found)
    names = [one["stage"] for one in match if one and (one["backend"], one["side"]) == (backend, "ours")]
    return [*(name for name in names if name != WHOLE), WHOLE]


BOOK = Book(HERE / "full_cluster.json", "<!-- results: make bench-full-cluster writes this table -->", tables)
