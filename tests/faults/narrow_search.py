"""Search for a batch size in little memory, run a step with it, and print it.

Each step reports the same time, so that only memory ends the search. Argument: the MiB that it may use.
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import torch

from trainwright_trainer.loop.batch_size_finder import candidates, search

ROWS = 10_000
FLOATS_A_ROW = 1 << 18  # 1 MiB, and the same again for the backward pass


def step(layer: torch.nn.Module, rows: int) -> float:
    layer(torch.ones(rows, 1)).tanh().sum().backward()
    return 1.0


def main() -> None:
    torch.set_num_threads(1)
    layer = torch.nn.Linear(1, FLOATS_A_ROW)
    step(layer, 1)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (int(sys.argv[1]) << 20), resource.RLIM_INFINITY))
    size = search(lambda rows: step(layer, rows), candidates(ROWS, ROWS, on_cpu=False)).size
    step(layer, size)
    print(size)


if __name__ == "__main__":
    main()
