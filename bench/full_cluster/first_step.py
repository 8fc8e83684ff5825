"""From `kubectl apply` to the first training step: ours and a hand-written Job or RayJob, in turn on one warm node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from bench.full_cluster import shapes
from bench.full_cluster.environment import WarmCluster, environment
from bench.full_cluster.timeline import ACCEPTED, LOCAL, RAY, Stage, lasted
from bench.results import Result, result

GOAL = "≤ 1.3"
STAGES: Mapping[str, Sequence[Stage]] = {"ray": RAY, "local": LOCAL}
SIDES = ("baseline", "ours")
Lasted = Mapping[str, float]


async def run(rounds: int, backends: Sequence[str]) -> dict[str, Result]:
    found: dict[str, Result] = {}
    async with environment() as here:
        await measure(here, "warm", backends[0], "baseline")
        for backend in backends:
            sides: dict[str, list[Lasted]] = {side: [] for side in SIDES}
            for number in range(rounds):
                for side in SIDES if number % 2 == 0 else reversed(SIDES):
                    sides[side].append(await measure(here, f"{side}-{number}", backend, side))
            found |= compared(backend, sides["baseline"], sides["ours"])
    return found


async def measure(here: WarmCluster, name: str, backend: str, side: str) -> Lasted:
    """One run, which ends right after its first step."""
    address, stages = here.eye.address, STAGES[backend]
    if side == "ours":
        made = shapes.ours(f"{name}-{backend}", backend, here.bucket, address)
        stages = (ACCEPTED, *stages)
    else:
        dataset, image = here.bucket.upload(shapes.WEATHER, "weather.csv"), here.full_cluster.image("trainwright")
        made = shapes.baseline(f"{name}-{backend}", backend, dataset, image, address)
    began, _ = await here.first_step(made)
    seconds = lasted(here.eye.seen, stages, began)
    await here.clear(made)
    text = ", ".join(f"{stage} {one:.2f}" for stage, one in seconds.items())
    print(f"{backend}, {name}: {sum(seconds.values()):.2f} s: {text}", flush=True)
    return seconds


def compared(backend: str, baselines: Sequence[Lasted], ours: Sequence[Lasted]) -> dict[str, Result]:
    """The total time, and the stages of each side."""
    ratio = median(sum(one.values()) / sum(other.values()) for one, other in zip(ours, baselines, strict=True))
    found = {f"{backend}: to the first step": result(ratio, "× baseline", GOAL)}
    for side, runs in zip(SIDES, (baselines, ours), strict=True):
        found[f"{backend}, {side}: whole"] = result(median(sum(one.values()) for one in runs), "s")
        for stage in runs[0]:
            found[f"{backend}, {side}: {stage}"] = result(median(one[stage] for one in runs), "s")
    return found
