"""What a backend hands over to each process that it starts. Nothing else of it is known further up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RankInfo:
    """One of `world` processes that train together, with the device and the CPUs that are its own.

    Where there are several, their default process group is made already. `threads`: what OMP_NUM_THREADS asks for.
    """

    rank: int
    world: int
    device: str
    cpus: int
    threads: int | None = None
