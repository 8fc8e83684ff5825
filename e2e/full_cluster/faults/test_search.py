"""A search in pods: two trials run at the same time; a killed trial and a lost head are continued."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from testkit.full_cluster import jobs
from testkit.full_cluster.bucket import Bucket
from testkit.full_cluster.full_cluster import FullCluster
from testkit.full_cluster.training import CONFIG, HEAD, NAME, WORKER, Training
from testkit.full_cluster.volume import Volume

TRIALS = 4
SECONDS = 400.0
SEARCH = {
    "output_feature": "temperature",
    "metric": "mean_squared_error",
    "parameters": {"trainer.learning_rate": {"space": "loguniform", "lower": 0.0001, "upper": 0.01}},
    "executor": {"num_samples": TRIALS, "max_concurrent_trials": 2},
}
# Each trial takes a while: 40 epochs of 210 steps.
TRAINER = {"epochs": 40, "batch_size": 4, "precision": "float64", "early_stop": -1}
KILL_A_TRIAL = (
    "for folder in /proc/[0-9]*; do "
    "if tr '\\0' ' ' < $folder/cmdline 2>/dev/null | grep -q '^ray::ImplicitFunc'; then kill -9 ${folder#/proc/}; fi; "
    "done"
)


class Searching(Training):
    """The search, which its job runs under the name of the training."""

    def __init__(self, full_cluster: FullCluster, namespace: str, bucket: Bucket, volume: Volume) -> None:
        super().__init__(full_cluster, namespace, bucket, volume)
        self.bucket = bucket

    def begin(self, full_cluster: FullCluster) -> None:
        job = jobs.on_ray(NAME, self.bucket)
        job["spec"] |= {
            "task": "hyperopt",
            "config": {**CONFIG, "trainer": TRAINER, "hyperopt": SEARCH},
            "checkpoint": {"everySeconds": 1, "numToKeep": 2},
        }
        del job["spec"]["backend"]["trainer"]
        jobs.apply(self.kubectl, self.namespace, jobs.keys(full_cluster), job)

    def objects(self, folder: str) -> Sequence[str]:
        """The names below a folder of the run."""
        run = self.status().get("output", "").removeprefix(self.bucket.uri(""))
        return [key.removeprefix(f"{run}/") for key in self.bucket.keys(f"{run}/{folder}")] if run else []

    def read(self, name: str) -> Mapping[str, Any]:
        run = self.status()["output"].removeprefix(self.bucket.uri(""))
        found: Mapping[str, Any] = json.loads(self.bucket.read(f"{run}/{name}"))
        return found

    def attempts_of(self, trial: str) -> Sequence[str]:
        return [name for name in self.objects(f"trials/{trial}/attempts/") if name.endswith("/start.json")]

    def has_checkpoints(self, *trials: str) -> bool:
        """True if each of these trials has a whole checkpoint."""
        folders = (self.objects(f"trials/{trial}/checkpoints/") for trial in trials)
        return all(any(name.endswith("/manifest.json") for name in names) for names in folders)

    def wait(self, holds: Callable[[], object], what: str) -> None:
        self.until(holds, SECONDS, what)


@pytest.fixture
def searching(operator: FullCluster, namespace: str, bucket: Bucket, volume: Volume) -> Searching:
    made = Searching(operator, namespace, bucket, volume)
    made.begin(operator)
    return made


def ends_with_all_trials(searching: Searching) -> Sequence[Mapping[str, Any]]:
    """Wait for the end, and check the status. Return the attempts of the job."""
    attempts = searching.finish()
    status = searching.status()
    trials = status["progress"]["trials"]
    assert (trials["total"], trials["finished"], trials["failed"]) == (TRIALS, TRIALS, 0)
    scores = [one["score"] for one in trials["best"]]
    assert scores == sorted(scores)
    assert len(scores) == TRIALS
    assert trials["best"][0]["folder"].startswith(f"{status['output']}/trials/")
    assert status["progress"]["summary"] == f"{TRIALS}/{TRIALS} trials"
    assert status["testScores"]["temperature.mean_squared_error"] > 0
    assert searching.objects("model/model.json")
    return attempts


def test_trials_run_in_two_pods_and_a_killed_one_goes_on(searching: Searching) -> None:
    searching.wait(lambda: searching.has_checkpoints("0001", "0002"), "a checkpoint of both trials")
    hosts = {searching.read(f"trials/{trial}/attempts/1/start.json")["host"] for trial in ("0001", "0002")}
    assert hosts == set(searching.pods(WORKER))
    pod = min(hosts)
    searching.kubectl("exec", f"-n={searching.namespace}", pod, "--", "sh", "-c", KILL_A_TRIAL)
    (attempt,) = ends_with_all_trials(searching)
    assert attempt["outcome"] == "done"
    again = [trial for trial in ("0001", "0002") if len(searching.attempts_of(trial)) == 2]
    assert len(again) == 1
    assert searching.read(f"trials/{again[0]}/attempts/2/start.json")["checkpoint"]


def test_the_next_attempt_repeats_no_finished_trial(searching: Searching) -> None:
    searching.wait(lambda: "search/ended/0001.json" in searching.objects("search/ended/"), "the end of the first trial")
    searching.wait(lambda: searching.has_checkpoints("0003"), "a checkpoint of the third trial")
    ended = [name for name in searching.objects("search/trials/") if searching.read(name)["end"]]
    before = {name: searching.read(name) for name in ended}
    searching.take(HEAD)
    lost, last = ends_with_all_trials(searching)
    assert lost["outcome"] in ("infrastructure", "preempted")
    assert last["outcome"] == "done"
    assert before
    assert {name: searching.read(name) for name in before} == before
    for name in before:
        assert len(searching.attempts_of(name.removeprefix("search/trials/").removesuffix(".json"))) == 1
    assert len(searching.attempts_of("0003")) == 2
