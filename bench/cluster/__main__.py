"""Runs the benchmarks of the operator, writes bench/operator.json and updates their table in bench/README.md.

python -m bench.cluster [--only starting|finishing|restart|refusal|posts] [--jobs N] [--rounds N] [--finished N] …
"""

from __future__ import annotations

import argparse

from bench import results
from bench.cluster import posts, refusal, restart, starting
from bench.results import OPERATOR

BENCHMARKS: dict[str, results.Run] = {
    "starting": lambda given: starting.until_started(given.jobs, given.rounds),
    "finishing": lambda given: starting.until_done(given.done),
    "restart": lambda given: restart.run(given.finished, given.idle),
    "refusal": lambda given: refusal.run(given.times),
    "posts": lambda given: posts.run(given.pods, given.seconds),
}


def parser() -> argparse.ArgumentParser:
    made = results.parser("bench.cluster", "The operator on a control plane.", BENCHMARKS)
    made.add_argument("--jobs", type=int, default=1_000, help="jobs that are started, by the baseline and by ours")
    made.add_argument("--rounds", type=int, default=3, help="how often the baseline and ours take turns")
    made.add_argument("--done", type=int, default=200, help="jobs that run to their end")
    made.add_argument("--finished", type=int, default=10_000, help="finished jobs at a restart")
    made.add_argument("--idle", type=float, default=restart.IDLE_SECONDS, help="seconds in which nothing happens")
    made.add_argument("--times", type=int, default=refusal.TIMES, help="refusals of each kind")
    made.add_argument("--pods", type=int, default=posts.PODS_COUNT, help="pods that post")
    made.add_argument("--seconds", type=float, default=posts.SECONDS, help="seconds in which they post")
    return made


def main() -> None:
    results.run(BENCHMARKS, parser().parse_args(), OPERATOR)


if __name__ == "__main__":
    main()
