"""Run time of the commands that do not train; they must not import torch.

python -m bench --only command_line
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from statistics import median

from bench.process import ROOT, measure, python, trainwright
from bench.results import Result, result

RUNS = 9
JOB = str(ROOT / "examples" / "small" / "flights.yaml")
COMMANDS = {"trainwright --help": (["--help"], "≤ 0.5"), "trainwright validate": (["validate", JOB], "≤ 1.0")}


def seconds(arguments: Sequence[str]) -> float:
    """The median of several runs, after one that warms the page cache."""
    command = trainwright(*arguments)
    measure(command)
    return median(measure(command).seconds for _ in range(RUNS))


def torch_modules(arguments: Sequence[str]) -> int:
    """The number of torch's modules that the command imports."""
    output = measure(python("-X", "importtime", "-m", "trainwright_trainer", *arguments)).output
    return len(re.findall(r"\| +torch\b", output))


def run() -> dict[str, Result]:
    """All results of this benchmark."""
    found = {}
    for name, (arguments, goal) in COMMANDS.items():
        found[name] = result(seconds(arguments), "s", goal)
        found[f"{name}: torch"] = result(torch_modules(arguments), "modules", "= 0")
    return found
