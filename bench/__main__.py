"""Runs the benchmarks, writes bench/results.json and updates the table in bench/README.md.

python -m bench [--all] [--only tabular|command_line|scaling|busy|threads|search|predict|ray] [--runs N]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from bench import busy, command_line, predicting, ray_training, scaling, search, tabular, threads
from bench.results import Result, record


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Ours against the baseline, side by side.")
    parser.add_argument("--all", action="store_true", help="10 million rows too")
    parser.add_argument(
        "--only",
        choices=["command_line", "tabular", "scaling", "busy", "threads", "search", "predict", "ray"],
        help="one of the benchmarks",
    )
    parser.add_argument("--runs", type=int, help="rounds of the paired runs")
    options = parser.parse_args()
    benchmarks: dict[str, Callable[[], dict[str, Result]]] = {
        "command_line": command_line.run,
        "tabular": lambda: tabular.run(options.runs or tabular.RUNS),
        "scaling": lambda: scaling.run(largest=options.all),
        "busy": busy.run,
        "threads": threads.run,
        "search": lambda: search.run(runs=options.runs or search.RUNS),
        "predict": lambda: predicting.run(runs=options.runs or predicting.RUNS, largest=options.all),
        "ray": lambda: ray_training.run(runs=options.runs or ray_training.RUNS),
    }
    for name, run in benchmarks.items():
        if options.only in (None, name):
            record(run())


if __name__ == "__main__":
    main()
