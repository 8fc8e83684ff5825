"""The values that a backend passes to each process that it starts. Higher layers know nothing else of the backend."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RankInfo:
    """One of `world` processes that train together, with its device and its number of CPUs.

    With several processes, their default process group is already initialised. `threads`: from OMP_NUM_THREADS.
    """

    rank: int
    world: int
    device: str
    cpus: int
    threads: int | None = None
