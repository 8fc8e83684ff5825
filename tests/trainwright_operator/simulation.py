"""A cluster with one job in memory, and a clock that tests control. It carries out plans, completely or in part."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from trainwright_api.checks.cluster import ValidationResult
from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.resource.messages import OutcomeMessage, encoded
from trainwright_api.resource.status import PostedOutcome, TrainingJobStatus
from trainwright_operator.children import read_child
from trainwright_operator.controller.reconciler import ROUNDS
from trainwright_operator.controller.status_events import between
from trainwright_operator.decide.plan import plan
from trainwright_operator.model import times
from trainwright_operator.model.observed import Child, Held, Job, Node, Pod, Snapshot, Waiting
from trainwright_operator.model.plan import Event, Plan
from trainwright_operator.settings import Backoff, Settings

START = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
UID = "1c9e2f7a-0000-4000-8000-000000000000"
SPEC: dict[str, Any] = {
    "task": "train",
    "dataset": "s3://data/flights.parquet",
    "output": "s3://runs",
    "config": {
        "input_features": [{"name": "distance", "type": "number"}],
        "output_features": [{"name": "late", "type": "binary"}],
    },
}
SETTINGS = Settings(backoff=Backoff(base=10, limit=300, jitter=0.2), stop_grace=120, overlap_grace=60)


def validation_of(spec: dict[str, Any]) -> ValidationResult:
    return _validated(json.dumps(spec))


@cache
def _validated(text: str) -> ValidationResult:
    spec = json.loads(text)
    fixed = {key: spec.get(key) for key in ("task", "dataset", "config", "backend", "output")}
    try:
        return ValidationResult(TrainingJobSpec.model_validate(spec), f"{abs(hash(str(fixed))):x}")
    except ValueError as error:
        return ValidationResult(None, f"{abs(hash(str(fixed))):x}", f"flights: {error}")


@dataclass
class Cluster:
    """One job, its children and its pods."""

    spec: dict[str, Any] = field(default_factory=lambda: dict(SPEC))
    name: str = "flights"
    uid: str = UID
    status: TrainingJobStatus = field(default_factory=TrainingJobStatus)
    children: dict[str, Child] = field(default_factory=dict)
    pods: dict[str, Pod] = field(default_factory=dict)
    nodes: tuple[Node, ...] | None = None
    settings: Settings = SETTINGS
    now: datetime = START
    generation: int = 1
    deleted: bool = False
    warnings: tuple[str, ...] = ()
    """The warnings in the validation on the spec."""
    kuberay: bool = True
    waiting: tuple[Waiting, ...] = ()
    others_stopping: bool = False
    others_waiting: tuple[Waiting, ...] = ()
    others_crowded: bool = False
    in_use: dict[str, dict[str, float]] = field(default_factory=dict)
    """By node: what the pods of others request."""
    others: Held = field(default_factory=Held)
    queued: dict[str, str] = field(default_factory=dict)
    """The text of Kueue's Workload of a child, by the uid of the child."""
    pods_refused: str = ""
    """The reason for which pods cannot be created, as the events of the Job say."""
    events: list[Event] = field(default_factory=list)
    created: list[str] = field(default_factory=list)
    deleted_by_hand: set[str] = field(default_factory=set)
    shared: set[str] = field(default_factory=set)
    manifests: list[dict[str, Any]] = field(default_factory=list)

    def job(self) -> Job:
        return Job(
            namespace="default",
            name=self.name,
            uid=self.uid,
            generation=self.generation,
            resource_version="1",
            created=START,
            deleting=False,
            suspend=bool(self.spec.get("suspend")),
            ttl_seconds=self.spec.get("ttlSecondsAfterFinished"),
            ttl_policy=self.spec.get("ttlPolicy", "DeleteChildren"),
            validation=replace(validation_of(self.spec), warnings=self.warnings),
            status=self.status,
            raw={"spec": self.spec},
        )

    def snapshot(self, **answers: Any) -> Snapshot:
        snapshot = Snapshot(
            tuple(self.children.values()),
            tuple(self.pods.values()),
            self.nodes,
            missing_kinds=frozenset() if self.kuberay else frozenset({"RayJob"}),
            waiting=self.waiting,
            others_stopping=self.others_stopping,
            others_waiting=self.others_waiting,
            others_crowded=self.others_crowded,
            others=self.others,
            queued=self.queued,
        )
        return replace(snapshot, **answers)

    def decide(self) -> Plan:
        """Return the plan, with its requests for data answered as the reconciler answers them."""
        asked: frozenset[str] = frozenset()
        answers: dict[str, Any] = {}
        for _ in range(ROUNDS):
            decided = plan(self.job(), self.snapshot(**answers), self.settings, self.now, "PEM")
            if not decided.lookups:
                return decided
            asked |= {lookup.name for lookup in decided.lookups if lookup.target == "child"}
            there = frozenset(self.children)
            answers |= {"gone": asked - there, "fresh": asked & there, "in_use": self.in_use}
            answers |= {"pods_fresh": True} if any(lookup.target == "pods" for lookup in decided.lookups) else {}
            events = any(lookup.target == "events" for lookup in decided.lookups)
            answers |= {"pods_refused": self.pods_refused} if events else {}
        raise AssertionError(f"it still looks up {decided.lookups}")

    def run(self, *, requests: int | None = None) -> int:
        """Run one pass. With `requests`, the operator dies after that many. Return the number that it made."""
        decided = self.decide()
        steps = [lambda one=one: self._create(one) for one in decided.create]
        steps += [lambda one=one: self._delete(one.name, one.kind) for one in decided.delete]
        if decided.status is not None:
            steps.append(lambda: self._write(decided.status))
        for step in steps[:requests]:
            step()
        return len(steps[:requests])

    def settle(self) -> None:
        """Run passes until nothing is left to do at this time."""
        for _ in range(12):
            if self.run() == 0:
                return
        raise AssertionError(f"no end of writing: {self.decide()}")

    def _create(self, manifest: Any) -> None:
        if manifest["kind"] not in ("Job", "RayJob"):
            self.shared.add(manifest["kind"])
            return
        metadata = manifest["metadata"]
        if metadata["name"] in self.children:
            return
        self.created.append(metadata["name"])
        self.manifests.append(manifest)
        stamped = {"uid": f"uid-{len(self.created)}", "creationTimestamp": times.written(self.now)}
        child = read_child({**manifest, "metadata": {**metadata, **stamped}, "status": {}})
        assert child is not None
        self.children[child.name] = child

    def _delete(self, name: str, kind: str) -> None:
        if kind == "TrainingJob":
            self.deleted = True
            self.children.clear()
            self.pods.clear()
        elif kind not in ("Job", "RayJob"):
            self.shared.discard(kind)
        self.children.pop(name, None)

    def _write(self, status: TrainingJobStatus | None) -> None:
        assert status is not None
        body = status.model_dump(by_alias=True, exclude_none=True)
        parsed = TrainingJobStatus.model_validate(body)
        self.events += between(self.status, parsed)
        self.status = parsed

    # actions of users, controllers and pods

    @property
    def child(self) -> Child:
        (child,) = self.children.values()
        return child

    def change(self, **spec: Any) -> None:
        self.spec = {**self.spec, **spec}
        self.generation += 1

    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def starts(self) -> None:
        self.children[self.child.name] = replace(self.child, state="running", started=self.now)

    def ends(self, *, exit_code: int = 0, message: str = "", reason: str = "") -> None:
        state = "succeeded" if exit_code == 0 else "failed"
        self.children[self.child.name] = replace(
            self.child, state=state, finished=self.now, exit_code=exit_code, message=message, reason=reason
        )

    def posts(self, outcome: str, line: str = "", **more: Any) -> None:
        """Post an outcome. Its stage is that of the newest child unless given."""
        newest = next(reversed(self.children.values()), None)
        fields = {"stage": newest.stage if newest is not None else "train", **more}
        posted = PostedOutcome(
            attempt=self.status.attempt or 0,
            outcome=outcome,  # type: ignore[arg-type]
            message=line or None,
            post_time=times.written(self.now),
            **fields,
        )
        self.status = self.status.model_copy(update={"outcome": posted})

    def refuses_its_number(self, free: int, *, posted: bool = True) -> None:
        """End as the trainer does if the run folder knows the number of the attempt. `free`: the next free one."""
        line, child = f"attempt {self.child.attempt} of this run has begun already", self.child
        if posted:
            self.posts("environment", line, next_attempt=free)
        else:
            said = OutcomeMessage(attempt=child.attempt, stage=child.stage, outcome="environment", line=line)
            text = encoded(said.model_copy(update={"next_attempt": free}))
            pod = Pod("default", child.name, f"p-{child.name}", self.uid, child.attempt, "node", "Failed", child.stage)
            self.pods[child.name] = replace(pod, exit_code=3, termination_message=text)
        self.ends(exit_code=3)

    def condition(self, kind: str) -> tuple[str, str] | None:
        found = next((one for one in self.status.conditions or [] if one.type == kind), None)
        return (found.status, found.reason) if found else None
