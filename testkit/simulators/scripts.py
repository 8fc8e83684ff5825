"""The script of one attempt in a test. Times are seconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from testkit.api import Manifest
from testkit.simulators.children import origin
from trainwright_api.resource.messages import OutcomeMessage
from trainwright_api.resource.stages import PREPROCESS
from trainwright_api.resource.status import OutcomeClass
from trainwright_operator.model import names

ReportedBy = Literal["posted", "termination message", "exit code"]
OF_EXIT_CODES: Mapping[int, OutcomeClass] = {2: "mistake", 3: "environment", 75: "stopped"}


@dataclass(frozen=True, kw_only=True)
class Script:
    """The fields that every ending shares."""

    after: float = 0.0
    """Run time of the pods before the end."""
    unmade: float = 0.0
    """Time in which the Job controller cannot create the pods."""
    pending: float = 0.0
    """Time that the pods wait before they run."""
    queued: float | None = None
    """Kueue first suspends the child for this time."""
    preempted: float | None = None
    """Kueue suspends it again after it has been admitted for this time."""
    terminating: float = 0.0
    """Time that a pod stays while it is being deleted."""
    before: Script | None = None
    """The script of the preprocess stage, if the attempt has one. None: it succeeds."""


@dataclass(frozen=True, kw_only=True)
class Succeed(Script):
    reported_by: ReportedBy = "posted"
    test_scores: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Fail(Script):
    """The training ends with an exit code; `reported_by` selects how its class, line and log are reported."""

    exit_code: int = 1
    message: str = "it went wrong"
    log: str = "the last log line"
    reported_by: ReportedBy = "posted"


@dataclass(frozen=True, kw_only=True)
class StopWhenAsked(Script):
    """Runs until the operator requests a stop; then it takes `after` seconds and exits with 75."""


@dataclass(frozen=True, kw_only=True)
class RunForever(Script):
    """Runs forever."""


@dataclass(frozen=True, kw_only=True)
class LoseHead(Script):
    """The head's pod disappears at once; for a Job, the first pod."""


@dataclass(frozen=True, kw_only=True)
class LoseNode(Script):
    """The node under it fails: its pod is being deleted, and no kubelet confirms it."""


@dataclass(frozen=True, kw_only=True)
class Preempt(Script):
    """The scheduler preempts it for a pod of higher priority."""


@dataclass(frozen=True, kw_only=True)
class Evict(Script):
    """The kubelet evicts it because its node is short of memory."""


@dataclass(frozen=True, kw_only=True)
class NeverStart(Script):
    reason: Literal["ImagePullBackOff", "Unschedulable"] = "Unschedulable"
    message: str = "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."


def has_room(script: Script) -> bool:
    """True if the script lets its pods find a node."""
    return not (isinstance(script, NeverStart) and script.reason == "Unschedulable")


@dataclass(frozen=True, kw_only=True)
class Invalid(Script):
    """KubeRay refuses the RayJob."""

    message: str = "RayJob name should be no more than 47 characters"


class Scripts:
    """The script of each attempt, by the job's name: in order, and the last one repeats."""

    def __init__(self, default: Script | None = None) -> None:
        self._default = default or Succeed()
        self._by_job: dict[tuple[str, str], tuple[Script, ...]] = {}

    def give(self, namespace: str, job: str, *scripts: Script) -> None:
        self._by_job[namespace, job] = scripts

    def of(self, child_or_pod: Manifest) -> Script:
        labels = child_or_pod["metadata"].get("labels", {})
        found = self._by_job.get((child_or_pod["metadata"]["namespace"], labels.get(names.JOB_NAME, "")))
        attempt, stage = origin(child_or_pod)
        script = found[min(attempt, len(found)) - 1] if found else self._default
        return (script.before or Succeed()) if stage == PREPROCESS else script


def outcome_of(child_or_pod: Manifest, script: Script) -> OutcomeMessage:
    """The outcome that the attempt's own process reports."""
    attempt, stage = origin(child_or_pod)
    match script:
        case Succeed():
            line, scores = f"{stage} is done", dict(script.test_scores) or None
            return OutcomeMessage(attempt=attempt, stage=stage, outcome="done", line=line, test_scores=scores)
        case Fail():
            outcome = OF_EXIT_CODES.get(script.exit_code, "crash")
            line, log = script.message, script.log
            return OutcomeMessage(attempt=attempt, stage=stage, outcome=outcome, line=line, log_tail=log)
    return OutcomeMessage(attempt=attempt, stage=stage, outcome="stopped", line="stopped on request")
