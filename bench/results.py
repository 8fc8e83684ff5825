"""The results of the benchmarks: files, tables in bench/README.md, and the command line that selects them."""

from __future__ import annotations

import argparse
import asyncio
import json
import operator
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

HERE = Path(__file__).resolve().parent
README = HERE / "README.md"
END = "<!-- end of results -->"
RELATIONS = {"≤": operator.le, "≥": operator.ge, "=": operator.eq}


class Result(TypedDict):
    """One measured value. `goal` is a relation and a number, as in "≤ 1.05", or null; then `holds` is null too."""

    value: float
    unit: str
    goal: str | None
    holds: bool | None


def table(found: Mapping[str, Result]) -> str:
    """All results as a Markdown table."""
    words = {None: "", True: "yes", False: "**no**"}
    rows = [
        f"| {name} | {one['value']:,} {one['unit']} | {one['goal'] or ''} | {words[one['holds']]} |"
        for name, one in found.items()
    ]
    return "\n".join(["| what | measured | goal | holds |", "|---|---:|---|---|", *rows])


@dataclass(frozen=True)
class Book:
    """The place of the results: a file, and the table after this line of the README."""

    file: Path
    begin: str
    written: Callable[[Mapping[str, Result]], str] = table


TRAINER = Book(HERE / "results.json", "<!-- results: make bench writes this table -->")
OPERATOR = Book(HERE / "operator.json", "<!-- results: make bench-operator writes this table -->")


def result(value: float, unit: str, goal: str | None = None) -> Result:
    """A result with a rounded value, and whether it meets the goal."""
    value = rounded(value)
    return Result(value=value, unit=unit, goal=goal, holds=None if goal is None else reaches(value, goal))


def rounded(value: float) -> float:
    """Four significant digits; whole numbers stay whole."""
    if value == int(value) or abs(value) >= 10_000:
        return round(value)
    return float(f"{value:.4g}")


def reaches(value: float, goal: str) -> bool:
    """True if the value is in the goal's relation to the goal's number."""
    relation, bound = goal.split()
    return bool(RELATIONS[relation](value, float(bound)))


def line(name: str, found: Result) -> str:
    """One line for the terminal."""
    text = f"{name:<48} {found['value']:>12,} {found['unit']}"
    if found["goal"] is None:
        return text
    return f"{text}   (goal {found['goal']}: {'holds' if found['holds'] else 'MISSED'})"


def record(found: Mapping[str, Result], book: Book = TRAINER, readme: Path = README, *, dry: bool = False) -> None:
    """Print the results, and write them over those of the same name in the book. `dry`: only print."""
    for name, one in found.items():
        print(line(name, one), flush=True)
    if dry:
        return
    known: dict[str, Result] = json.loads(book.file.read_text()) if book.file.exists() else {}
    known.update(found)
    book.file.write_text(json.dumps(known, indent=2, ensure_ascii=False) + "\n")
    readme.write_text(with_table(readme.read_text(), known, book))


def with_table(text: str, found: Mapping[str, Result], book: Book = TRAINER) -> str:
    """The README's text with a new table between its markers. Raises ValueError if a marker is missing."""
    before, _, rest = text.partition(book.begin)
    _, marker, after = rest.partition(END)
    if not marker:
        raise ValueError(f"the markers {book.begin!r} and {END!r} are missing")
    return "".join([before, book.begin, "\n\n", book.written(found), "\n\n", END, after])


Run = Callable[[argparse.Namespace], Coroutine[Any, Any, dict[str, Result]]]


def parser(name: str, description: str, benchmarks: Mapping[str, Run]) -> argparse.ArgumentParser:
    """Return a parser with the arguments that `run` reads."""
    made = argparse.ArgumentParser(prog=f"python -m {name}", description=description)
    made.add_argument("--only", choices=list(benchmarks), help="one of the benchmarks")
    made.add_argument("--dry", action="store_true", help="write nothing down")
    return made


def run(benchmarks: Mapping[str, Run], given: argparse.Namespace, book: Book) -> None:
    for name, benchmark in benchmarks.items():
        if given.only in (None, name):
            record(asyncio.run(benchmark(given)), book, dry=given.dry)
