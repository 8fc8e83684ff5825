"""What a backend hands over to each process that it starts. Nothing else of it is known further up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Seat:
    """One of `world` processes that train together, and the device that is its own.

    Where there are several, their default process group is made already.
    """

    rank: int
    world: int
    device: str
