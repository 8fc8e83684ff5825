"""The shared command line of the benchmarks on a cluster: it runs all of them, or the selected one."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from bench.results import Book, Result, record

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
