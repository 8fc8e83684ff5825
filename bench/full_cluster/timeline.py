"""The stages of a job from apply to its end, and the table of them in bench/README.md."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from testkit.api import Manifest, condition

from bench.results import HERE, Book, Result, table

Seen = Mapping[tuple[str, str], float]
"""The time at which a word was first true: of an object, by its uid, or of a process, which reports it itself."""


@dataclass(frozen=True)
class Stage:
    """Reached when the word is true of this many objects or processes."""

    name: str
    word: str
    count: int = 1


ACCEPTED, FIRST_STEP = Stage("accepted", "TrainingJob accepted"), Stage("first step", "stepped")
LOCAL = (
    Stage("Job there", "Job there"),
    Stage("pod scheduled", "pod scheduled"),
    Stage("program began", "program began"),
    Stage("data read", "data read"),
    FIRST_STEP,
)
RAY = (
    Stage("RayJob there", "RayJob there"),
    Stage("head and workers scheduled", "Ray pod scheduled", 3),
    Stage("head and workers started", "Ray pod started", 3),
    Stage("head and workers ready", "Ray pod ready", 3),
    Stage("submitter started", "pod started"),
    Stage("driver began", "program began"),
    Stage("workers up", "at work", 2),
    Stage("data read", "data read", 2),
    FIRST_STEP,
)


def words(seen: Manifest) -> Iterator[str]:
    """The words that are true of an object."""
    match seen["kind"]:
        case "TrainingJob" if condition(seen, "Accepted") == "True":
            yield "TrainingJob accepted"
        case "Job" | "RayJob":
            yield f"{seen['kind']} there"
        case "Pod":
            name = "Ray pod" if "ray.io/node-type" in seen["metadata"].get("labels", {}) else "pod"
            yield from (f"{name} {word}" for word in _of_a_pod(seen))


def gpus(pod: Manifest, resource: str) -> int:
    """The number of GPUs that the pod holds from its scheduling on."""
    limits = (one.get("resources", {}).get("limits", {}) for one in pod["spec"]["containers"])
    return sum(int(limit.get(resource, 0)) for limit in limits)


def gpu_seconds(pods: Mapping[str, Manifest], seen: Seen, resource: str, until: float) -> float:
    """Counted from the scheduling of each pod that holds GPUs."""
    scheduled = {who: moment for (word, who), moment in seen.items() if word.endswith("pod scheduled")}
    return sum(gpus(pod, resource) * (until - scheduled[uid]) for uid, pod in pods.items() if gpus(pod, resource))


def reached(seen: Seen, stage: Stage) -> float | None:
    moments = sorted(moment for (word, _), moment in seen.items() if word == stage.word)
    return moments[stage.count - 1] if len(moments) >= stage.count else None


def lasted(seen: Seen, stages: Sequence[Stage], began: float) -> Mapping[str, float]:
    """Seconds of each stage, from the end of the stages before it. They add up to the total time."""
    found: dict[str, float] = {}
    last = began
    for stage in stages:
        moment = reached(seen, stage)
        if moment is None:
            raise ValueError(f"{stage.name!r} was never reached")
        found[stage.name] = max(0.0, moment - last)
        last = max(last, moment)
    return found


def _of_a_pod(pod: Manifest) -> Iterator[str]:
    if condition(pod, "PodScheduled") == "True":
        yield "scheduled"
    if any(one["state"].get("running") for one in pod.get("status", {}).get("containerStatuses", ())):
        yield "started"
    if condition(pod, "Ready") == "True":
        yield "ready"


STAGE = re.compile(r"(?P<backend>\w+), (?P<side>baseline|ours): (?P<stage>.+)")
WHOLE = "whole"


def tables(found: Mapping[str, Result]) -> str:
    """All results. A stage that only one side has leaves the other's field empty."""
    single = {name: one for name, one in found.items() if not STAGE.fullmatch(name)}
    stages = [match for name in found if (match := STAGE.fullmatch(name))]
    backends = dict.fromkeys(match["backend"] for match in stages)
    return "\n\n".join([table(single), *("\n".join(_side_by_side(backend, found)) for backend in backends)])


def _side_by_side(backend: str, found: Mapping[str, Result]) -> Iterator[str]:
    yield from (f"| {backend}: until | baseline | ours |", "|---|---:|---:|")
    for stage in _in_order(backend, found):
        sides = (found.get(f"{backend}, {side}: {stage}") for side in ("baseline", "ours"))
        yield " | ".join([f"| {stage}", *(f"{one['value']} {one['unit']}" if one else "" for one in sides)]) + " |"


def _in_order(backend: str, found: Mapping[str, Result]) -> Sequence[str]:
    """Our stages include all of the baseline's. The total is last."""
    match = (STAGE.fullmatch(name) for name in found)
    names = [one["stage"] for one in match if one and (one["backend"], one["side"]) == (backend, "ours")]
    return [*(name for name in names if name != WHOLE), WHOLE]


BOOK = Book(HERE / "full_cluster.json", "<!-- results: make bench-full-cluster writes this table -->", tables)
