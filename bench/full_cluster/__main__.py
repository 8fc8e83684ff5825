"""Runs the benchmarks on the full cluster, writes bench/full_cluster.json and updates its table in bench/README.md.

python -m bench.full_cluster [--only first_step|gpus] [--rounds N] [--backend ray|local] …
"""

from __future__ import annotations

import argparse

from bench import results
from bench.full_cluster import first_step, gpus
from bench.full_cluster.timeline import BOOK

BENCHMARKS: dict[str, results.Run] = {
    "first_step": lambda given: first_step.run(given.rounds, given.backend or list(first_step.STAGES)),
    "gpus": lambda given: gpus.run(given.rows, given.rounds),
}


def parser() -> argparse.ArgumentParser:
    made = results.parser("bench.full_cluster", "From kubectl apply to the first step.", BENCHMARKS)
    made.add_argument("--rounds", type=int, default=3, help="how often those that are compared take turns")
    made.add_argument("--backend", action="append", choices=list(first_step.STAGES), help="this one only")
    made.add_argument("--rows", type=int, default=3_000_000, help="of the data that GPUs wait for")
    return made


def main() -> None:
    results.run(BENCHMARKS, parser().parse_args(), BOOK)


if __name__ == "__main__":
    main()
