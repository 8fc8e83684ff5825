"""Records objects over time in the API server's own order, so that a test can check for forbidden states."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from testkit.api import Manifest
from testkit.simulators.children import is_finished, origin
from testkit.simulators.mirror import Mirror, owner_uid
from trainwright_operator.model import names


@dataclass
class Lifetime:
    """The first and last resourceVersion at which a child, or a running pod, existed.

    etcd counts all objects with one counter, so these numbers are comparable across kinds.
    """

    kind: str
    namespace: str
    name: str
    uid: str
    job_uid: str
    attempt: int
    stage: str
    since: int
    until: int | None = None

    def overlaps(self, other: Lifetime) -> bool:
        return (self.until is None or other.since < self.until) and (other.until is None or self.since < other.until)

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name} [{self.since}, {self.until or 'now'})"


Wrong = Callable[[Lifetime, Lifetime], bool]


@dataclass
class Record:
    children: dict[str, Lifetime] = field(default_factory=dict)
    pods: dict[str, Lifetime] = field(default_factory=dict)
    excused: set[str] = field(default_factory=set)
    """Pods of lost nodes, whose API state is not reliable."""
    submissions: dict[str, set[str]] = field(default_factory=dict)
    """By a RayJob's uid: the submitters that were started for it."""

    def listen(self, children: Iterable[Mirror], pods: Mirror) -> None:
        for mirror in children:
            mirror.listeners.append(self._child)
        pods.listeners.append(self._pod)

    def of(self, namespace: str, job: str) -> Sequence[Lifetime]:
        """The children of a job, in the order of their creation."""
        found = [
            lifetime
            for lifetime in self.children.values()
            if lifetime.namespace == namespace and lifetime.name.startswith(job)
        ]
        return sorted(found, key=lambda child: child.since)

    def violations(self) -> list[str]:
        """At most one child per attempt and stage; never two at a time, nor pods of two; one submission per RayJob."""
        found = [f"attempt {a.attempt} of job {a.job_uid} had {a} and {b}" for a, b in self._pairs(_same_attempt)]
        found += [f"{a} and {b} were live at once" for a, b in self._pairs(_live_at_once)]
        found += [f"{a} and {b}, of different attempts or stages, ran at once" for a, b in self._pod_pairs()]
        found += [
            f"RayJob {uid} was submitted {len(made)} times" for uid, made in self.submissions.items() if len(made) > 1
        ]
        return found

    def _child(self, type_: str, seen: Manifest) -> None:
        labels, metadata = seen["metadata"].get("labels", {}), seen["metadata"]
        if "ray.io/originated-from-cr-name" in labels:
            self.submissions.setdefault(owner_uid(seen), set()).add(metadata["uid"])
        elif names.JOB_UID in labels:
            lifetime = self.children.setdefault(metadata["uid"], _lifetime(seen))
            _close(lifetime, type_, seen, ended=is_finished(seen))

    def _pod(self, type_: str, seen: Manifest) -> None:
        phase = seen.get("status", {}).get("phase", "")
        uid = seen["metadata"]["uid"]
        if names.JOB_UID in seen["metadata"].get("labels", {}) and (phase == "Running" or uid in self.pods):
            lifetime = self.pods.setdefault(uid, _lifetime(seen))
            _close(lifetime, type_, seen, ended=phase in ("Succeeded", "Failed"))

    def _pairs(self, wrong: Wrong) -> Iterable[tuple[Lifetime, Lifetime]]:
        return [pair for lifetimes in _by_job(self.children) for pair in combinations(lifetimes, 2) if wrong(*pair)]

    def _pod_pairs(self) -> Iterable[tuple[Lifetime, Lifetime]]:
        pairs = [pair for lifetimes in _by_job(self.pods) for pair in combinations(lifetimes, 2)]
        return [
            (a, b) for a, b in pairs if not _same_attempt(a, b) and not {a.uid, b.uid} & self.excused and a.overlaps(b)
        ]


def _lifetime(seen: Manifest) -> Lifetime:
    metadata = seen["metadata"]
    attempt, stage = origin(seen)
    return Lifetime(
        kind=seen.get("kind", "Pod"),
        namespace=metadata["namespace"],
        name=metadata["name"],
        uid=metadata["uid"],
        job_uid=metadata["labels"][names.JOB_UID],
        attempt=attempt,
        stage=stage,
        since=int(metadata["resourceVersion"]),
    )


def _close(lifetime: Lifetime, type_: str, seen: Manifest, ended: bool) -> None:
    """An unseen deletion happened some time after the last state: the earliest moment causes no false violation."""
    if lifetime.until is None and (ended or type_ in ("DELETED", "MISSED")):
        lifetime.until = int(seen["metadata"]["resourceVersion"])


def _by_job(lifetimes: Mapping[str, Lifetime]) -> Iterable[Sequence[Lifetime]]:
    found: dict[str, list[Lifetime]] = {}
    for lifetime in lifetimes.values():
        found.setdefault(lifetime.job_uid, []).append(lifetime)
    return found.values()


def _same_attempt(a: Lifetime, b: Lifetime) -> bool:
    return (a.attempt, a.stage) == (b.attempt, b.stage)


def _live_at_once(a: Lifetime, b: Lifetime) -> bool:
    return a.overlaps(b)
