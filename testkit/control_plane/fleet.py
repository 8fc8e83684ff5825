"""Random jobs, the actions of their owners, and the allowed final state of each job."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from testkit.api import Manifest, condition
from testkit.harness import EVERY_KIND, Kind, training_job
from testkit.simulators import Evict, Fail, LoseHead, Preempt, RunForever, Script, StopWhenAsked, Succeed

ENDED = ("Complete", "Failed")
REFUSED: Sequence[Mapping[str, Any]] = (
    {"config": {"input_features": [{"name": "a", "type": "numbr"}], "output_features": [{"name": "b"}]}},
    {"config": {"input_features": [{"name": "a", "type": "number", "colum": "x"}], "output_features": []}},
)
"""The API server accepts these specs, the contract does not."""
TEMPLATES: Sequence[Mapping[str, Any]] = (
    {"labels": {"team": "ml"}, "annotations": {"a": "b"}},
    {"nodeSelector": {"disk": "ssd"}},
    {"tolerations": [{"key": "gpu", "operator": "Exists"}], "env": [{"name": "A", "value": "b"}]},
    {"volumes": [{"name": "scratch", "emptyDir": {}}], "volumeMounts": [{"name": "scratch", "mountPath": "/scratch"}]},
)
OUTCOMES: Mapping[type[Script], frozenset[str]] = {
    Succeed: frozenset({"done"}),
    LoseHead: frozenset({"infrastructure"}),
    Preempt: frozenset({"preempted", "infrastructure"}),
    Evict: frozenset({"preempted", "infrastructure"}),
    RunForever: frozenset(),
    StopWhenAsked: frozenset({"stopped"}),
}
OF_CODES = {1: "crash", 2: "mistake", 3: "environment"}


@dataclass
class Planned:
    """One job: its spec, the scripts of its attempts, and the actions of its owner so far."""

    name: str
    kind: Kind
    spec: Mapping[str, Any]
    scripts: Sequence[Script]
    invalid: bool
    was_suspended: bool = False
    suspended: bool = False
    deleted: bool = False
    done: list[str] = field(default_factory=list)

    @property
    def manifest(self) -> Manifest:
        return training_job(self.name, self.kind, **self.spec)

    def script(self, attempt: int) -> Script:
        return self.scripts[min(attempt, len(self.scripts)) - 1]


def planned(draw: random.Random, name: str) -> Planned:
    invalid, suspended = draw.random() < 0.1, draw.random() < 0.2
    spec: dict[str, Any] = {"suspend": True} if suspended else {}
    spec |= {"backoffLimit": draw.choice([0, 1, 6])} if draw.random() < 0.5 else {}
    spec |= {"preemptionLimit": draw.choice([0, 2])} if draw.random() < 0.3 else {}
    spec |= {"ttlSecondsAfterFinished": draw.choice([0, 3600])} if draw.random() < 0.3 else {}
    spec |= {"ttlPolicy": draw.choice(["DeleteChildren", "DeleteJob"])} if draw.random() < 0.5 else {}
    spec |= {"podTemplate": dict(draw.choice(TEMPLATES))} if draw.random() < 0.4 else {}
    spec |= dict(draw.choice(REFUSED)) if invalid else {}
    scripts = _scripts(draw)
    if any(isinstance(script, RunForever) for script in scripts):
        spec["activeDeadlineSeconds"] = draw.choice([1, 2])
    made = Planned(name, draw.choice(EVERY_KIND), spec, scripts, invalid)
    made.suspended = made.was_suspended = suspended
    return made


def _scripts(draw: random.Random) -> Sequence[Script]:
    after = draw.choice([0.0, 0.3, 1.0])
    some: list[Script] = [
        Fail(after=after),
        Fail(after=after, exit_code=2, reported_by=draw.choice(["posted", "termination message"])),
        Fail(after=after, exit_code=3),
        LoseHead(after=after),
        Preempt(after=after),
        Evict(after=after),
        Succeed(after=after),
    ]
    return [*draw.sample(some, draw.choice([0, 0, 1, 2])), draw.choice([Succeed(after=after), Succeed(), RunForever()])]


def wrong(job: Planned, seen: Manifest | None) -> str:
    """The difference between the job and the final state that its history allows; "" if there is none."""
    if seen is None:
        return "" if job.deleted or _goes_by_itself(job) else "it is gone"
    if job.deleted:
        return "it is still there"
    status = seen.get("status", {})
    phase = status.get("phase")
    if job.invalid:
        is_told = condition(seen, "Accepted") == "False" and status.get("message")
        return "" if phase == "Invalid" and is_told and "attempts" not in status else "it is not refused"
    if phase == "Suspended":
        return "" if job.suspended else "it is still suspended"
    if phase not in ENDED:
        return f"its phase is {phase}"
    if _goes_by_itself(job):
        return "it is still there"
    if job.spec.get("ttlSecondsAfterFinished") == 0 and "child" in status:
        return "its child is still there"
    return _contradiction(job, phase, status)


def _goes_by_itself(job: Planned) -> bool:
    return job.spec.get("ttlSecondsAfterFinished") == 0 and job.spec.get("ttlPolicy") == "DeleteJob" and not job.invalid


def _contradiction(job: Planned, phase: str, status: Manifest) -> str:
    attempts = sorted(status["attempts"], key=lambda attempt: attempt["number"])
    numbers = [attempt["number"] for attempt in attempts]
    if numbers != list(range(numbers[0], numbers[-1] + 1)):
        return f"its attempts are {numbers}"
    for attempt in attempts:
        if attempt.get("outcome") not in _possible(job, job.script(attempt["number"])):
            return f"attempt {attempt} of {job.script(attempt['number'])}"
    outcomes = [attempt["outcome"] for attempt in attempts]
    counted = sum(outcome in ("crash", "environment", "infrastructure") for outcome in outcomes)
    if numbers[0] == 1 and counted != status.get("retries", 0):
        return f"{status.get('retries')} retries of {outcomes}"
    return "" if (phase == "Complete") == (outcomes[-1] == "done") else f"{phase} after {outcomes}"


def _possible(job: Planned, script: Script) -> frozenset[str]:
    found = frozenset({OF_CODES[script.exit_code]}) if isinstance(script, Fail) else OUTCOMES[type(script)]
    is_stopped = job.was_suspended or "activeDeadlineSeconds" in job.spec
    return found | {"stopped"} if is_stopped else found
