"""A training job for fault tests: two Ray workers, float64, a checkpoint every three seconds. The rows of each update
are logged on a volume that outlives every pod.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from testkit.cluster.errors import ClusterError
from testkit.full_cluster import jobs
from testkit.full_cluster.bucket import Bucket
from testkit.full_cluster.full_cluster import FullCluster
from testkit.full_cluster.volume import MOUNTED, Volume

NAME = "long"
EPOCHS, STEPS_OF_EPOCH = 20, 210
STEPS = EPOCHS * STEPS_OF_EPOCH
ROW_LOG = "TRAINWRIGHT_ROW_LOG"
LOGS = ("rows", "rows.1")
"""The names of the row logs, one for each rank."""
CONFIG: Mapping[str, Any] = {
    "input_features": [
        {"name": "time", "type": "date"},
        {"name": "airport", "type": "category"},
        {"name": "humidity", "type": "number"},
        {"name": "gusty", "type": "binary"},
    ],
    "output_features": jobs.CONFIG["output_features"],
    "combiner": {"type": "concat", "num_fc_layers": 2, "output_size": 64},
    "trainer": {"epochs": EPOCHS, "effective_batch_size": 4, "precision": "float64", "early_stop": -1},
}
SPEC: Mapping[str, Any] = {"config": CONFIG, "checkpoint": {"everySeconds": 3, "numToKeep": 2}}

HEAD, WORKER, SUBMITTER = "ray.io/node-type=head", "ray.io/node-type=worker", "!ray.io/node-type"
OF_GANG = "batch.kubernetes.io/job-completion-index={}"
"""The pod of a gang with this index."""
SECONDS_TO_START = 400.0
SECONDS_TO_END = 900
SECONDS_BETWEEN_LOOKS = 0.5


@dataclass(frozen=True)
class Done:
    """The result of a run. `updates`: for each step, the source rows that all ranks read."""

    updates: Mapping[int, Sequence[int]]
    metrics: Mapping[str, Any]

    @property
    def scores(self) -> Sequence[float]:
        """The scores of all rounds and of the end."""
        parts = [part for one in self.metrics["rounds"] for part in one["scores"].values()]
        outputs = [output for part in (*parts, self.metrics["end"]["test"]) for output in part.values()]
        return [value for output in outputs for value in output.values()]

    @property
    def epochs(self) -> Sequence[Sequence[int]]:
        """Return the rows of each epoch, in the order of its updates."""
        firsts = range(1, STEPS, STEPS_OF_EPOCH)
        return [[row for step in range(one, one + STEPS_OF_EPOCH) for row in self.updates[step]] for one in firsts]


class Training:
    """The job in a cluster."""

    def __init__(self, full_cluster: FullCluster, namespace: str, bucket: Bucket, volume: Volume) -> None:
        self.kubectl, self.namespace = full_cluster.kubectl, namespace
        self._full_cluster, self._bucket, self._volume = full_cluster, bucket, volume

    def start(
        self,
        more: Mapping[str, Any] = MappingProxyType({}),
        strategy: str | Mapping[str, Any] = "ddp",
        backend: str = "ray",
        **pods: Any,
    ) -> None:
        """Create the job. `more` adds to the spec, `pods` to the pod template."""
        job = jobs.on_ray(NAME, self._bucket)
        job["spec"] |= {**SPEC, **more}
        job["spec"]["backend"]["type"] = backend
        job["spec"]["backend"]["trainer"]["strategy"] = strategy
        # Variables of this prefix are the operator's own; it takes no offence at those of a ConfigMap.
        log = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "row-log"}}
        log["data"] = {ROW_LOG: f"{MOUNTED}/{LOGS[0]}"}
        logging = {"envFrom": [{"configMapRef": {"name": "row-log"}}]}
        job["spec"]["podTemplate"] |= {**self._volume.pod_template, **logging, **pods}
        jobs.apply(self.kubectl, self.namespace, log, jobs.keys(self._full_cluster), job)

    def until_step(self, step: int, seconds: float = SECONDS_TO_START) -> None:
        """Wait until both ranks have made this update."""
        self.until(lambda: min(map(self._last_step, LOGS)) >= step, seconds, f"step {step}")

    def until(self, holds: Callable[[], object], seconds: float, what: str) -> None:
        """Wait for the state. Fails at once if the job has ended before."""
        end = time.monotonic() + seconds
        while not holds():
            status = self.status()
            assert "completionTime" not in status, status
            assert time.monotonic() < end, f"{what} did not come within {seconds:g} s: {status}"
            time.sleep(SECONDS_BETWEEN_LOOKS)

    def status(self) -> Mapping[str, Any]:
        found = json.loads(self.kubectl("get", f"-n={self.namespace}", "tj", NAME, "-o=json"))
        status: Mapping[str, Any] = found.get("status", {})
        return status

    def attempts(self) -> Sequence[Mapping[str, Any]]:
        found: Sequence[Mapping[str, Any]] = self.status().get("attempts", ())
        return found

    def pods(self, role: str) -> Mapping[str, str]:
        """Return the uids by name."""
        labels = f"trainwright.dev/job-name={NAME},{role}"
        found = json.loads(self.kubectl("get", f"-n={self.namespace}", "pods", f"-l={labels}", "-o=json"))
        return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in found["items"]}

    def running(self) -> Mapping[str, str]:
        """Return the uids of its RayJobs and pods, by name."""
        found = json.loads(self.kubectl("get", f"-n={self.namespace}", "rayjobs", "-o=json"))
        made = {one["metadata"]["name"]: one["metadata"]["uid"] for one in found["items"]}
        return {**made, **self.pods(HEAD), **self.pods(WORKER), **self.pods(SUBMITTER)}

    def submissions(self, child: str) -> int:
        """Return the number of pods that the submitter's Job has created."""
        about = f"involvedObject.kind=Job,involvedObject.name={child},reason=SuccessfulCreate"
        return len(
            self.kubectl("get", f"-n={self.namespace}", "events", f"--field-selector={about}", "-o=name").split()
        )

    def crash(self, role: str) -> str:
        """Send SIGKILL to all processes of one of these pods. Return the name of the pod."""
        name = min(self.pods(role))
        # The shell itself stays, and so does the first process, which ends when it sees that the others are gone.
        self.kubectl("exec", f"-n={self.namespace}", name, "--", "sh", "-c", "kill -9 -1")
        return name

    def take(self, role: str) -> None:
        """Delete the only pod of this role without a grace period."""
        (name,) = self.pods(role)
        self.kubectl("delete", f"-n={self.namespace}", "pod", name, "--grace-period=0", "--force")

    def finish(self) -> Sequence[Mapping[str, Any]]:
        """Wait until the job is complete. Return its attempts."""
        status = jobs.ended(self.kubectl, self.namespace, NAME, seconds=SECONDS_TO_END)
        assert status["phase"] == "Complete", status
        attempts: Sequence[Mapping[str, Any]] = status["attempts"]
        return attempts

    def finish_in_one_attempt(self, undisturbed: Done) -> None:
        """Check that the first attempt completed the job without a restart of its workers."""
        (attempt,) = self.finish()
        assert (attempt["number"], attempt["outcome"]) == (1, "done")
        assert self.begins() == [0]
        self.check(undisturbed)

    def finish_from_a_checkpoint(self, undisturbed: Done, *outcomes: str, tolerance: float = 1e-8) -> None:
        """Check the outcomes of the attempts, and that the last one resumed from a checkpoint."""
        attempts = self.finish()
        assert tuple(attempt["outcome"] for attempt in attempts) == outcomes, attempts
        self.check_beginnings(attempts)
        self.check(undisturbed, tolerance)

    def finish_by_the_next_attempt(self, undisturbed: Done) -> None:
        """Check that the first attempt lost a required pod, and that the second completed the job."""
        attempts = self.finish()
        lost, last = (attempt["outcome"] for attempt in attempts)
        assert lost in ("infrastructure", "preempted")
        assert last == "done"
        self.check_beginnings(attempts)
        self.check(undisturbed)

    def check_beginnings(self, attempts: Sequence[Mapping[str, Any]]) -> None:
        """Check that training started twice, and that the status shows the position of the second start."""
        first, *again = self.begins()
        position = attempts[-1]["position"]
        assert first == 0 < position
        # The log of an attempt shows no restart if the checkpoint was written by its last step.
        assert again == [position] or (not again and len(attempts) == 1), (again, position)

    def check(self, undisturbed: Done, tolerance: float = 1e-8) -> None:
        """Check that the faults have not changed the result."""
        done = self.done()
        assert {step: sorted(rows) for step, rows in done.updates.items()} == {
            step: sorted(rows) for step, rows in undisturbed.updates.items()
        }
        for epoch in done.epochs:
            assert sorted(epoch) == sorted(set(undisturbed.epochs[0]))
        assert done.scores == pytest.approx(undisturbed.scores, rel=tolerance, abs=tolerance)

    def done(self) -> Done:
        folder = self.status()["output"].removeprefix(self._bucket.uri(""))
        metrics = json.loads(self._bucket.read(f"{folder}/metrics.json"))
        return Done(joined(*(self._volume.read(log).decode() for log in LOGS)), metrics)

    def begins(self) -> Sequence[int]:
        """Return the number of processed rows at each start of the training."""
        lines = _lines(self._volume.read(LOGS[0]).decode())
        again = [line["step"] for before, line in pairwise(lines) if not _follows(before, line)]
        updates = self.done().updates
        return [sum(len(updates[step]) for step in range(1, first)) for first in [lines[0]["step"], *again]]

    def _last_step(self, log: str) -> int:
        try:
            lines = _lines(self._volume.read(log).decode())
        except (ClusterError, FileNotFoundError):
            return 0
        return int(lines[-1]["step"]) if lines else 0


def joined(*logs: str) -> Mapping[int, Sequence[int]]:
    """Return the rows of each update over all ranks. If an update was repeated, the newest one counts."""
    ranks = [{line["step"]: line["rows"] for line in sorted(_lines(log), key=_attempt)} for log in logs]
    steps = {step for rank in ranks for step in rank}
    return {step: [row for rank in ranks for row in rank[step]] for step in sorted(steps)}


def _follows(before: Mapping[str, Any], line: Mapping[str, Any]) -> bool:
    return (line["attempt"], line["step"]) == (before["attempt"], before["step"] + 1)


def _attempt(line: Mapping[str, Any]) -> int:
    return int(line["attempt"])


def _lines(log: str) -> Sequence[Mapping[str, Any]]:
    """Return the lines of a row log, without one that is half written."""
    return [json.loads(line) for line in log.splitlines(keepends=True) if line.endswith("\n")]


def trained_here(folder: Path) -> Done:
    """Run the same job in one process on this machine."""
    local = {"type": "local", "cache_dir": "cache"}
    spec = {**SPEC, "dataset": str(jobs.WEATHER), "backend": local}
    job = {"apiVersion": "trainwright.dev/v1alpha1", "kind": "TrainingJob", "metadata": {"name": NAME}, "spec": spec}
    (folder / "job.yaml").write_text(json.dumps(job))
    ended = subprocess.run(
        [sys.executable, "-m", "trainwright_trainer", "train", "job.yaml", "--output", "out"],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1", ROW_LOG: str(folder / "rows")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return Done(joined((folder / "rows").read_text()), json.loads((folder / "out/metrics.json").read_text()))
