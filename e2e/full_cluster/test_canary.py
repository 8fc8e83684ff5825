"""A user's secret is found only where the user put it and in the job's own Secret, at any time.

Looked at: every version of every object as etcd has the bytes, Events included; what the job's pods printed, and the
logs of all else that runs; and what lies in S3: cache, run folder, model, report.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from testkit.cluster import stored
from testkit.cluster.node.cluster_folder import ClusterFolder
from testkit.cluster.stored import Version
from testkit.full_cluster import jobs
from testkit.full_cluster.bucket import Bucket
from testkit.full_cluster.full_cluster import FullCluster
from testkit.full_cluster.objects import Object, one, until
from testkit.harness.canary import canary, holds, of_others

from trainwright_operator.model import names

JOBS = "/registry/trainwright.dev/trainingjobs/"
LONGEST_NAME = "x" * 253
WRONG = canary()
UNUSED = canary()
"""The secret, in addition to the keys in the user's Secret."""


@dataclass
class Watched:
    """A namespace whose logs are complete, although its pods are gone."""

    full_cluster: FullCluster
    namespace: str
    place: ClusterFolder
    since: int
    """The revision of the store."""
    printed: dict[str, bytes] = field(default_factory=dict)
    """The logs by their file on the node."""

    def ended(self, name: str) -> Object:
        """The job after its end."""
        return until(
            lambda: self._look(name),
            lambda job: "completionTime" in job.get("status", {}),
            seconds=600,
            what=f"the end of {name[:60]}",
        )

    def versions(self) -> Sequence[Version]:
        """Return all stored versions, except those of other tests."""
        found = asyncio.run(stored.versions(self.place.running, self.since))
        return [one for one in found if f"/{self.namespace}/" in one.key or "/test-" not in one.key]

    def logs(self) -> Mapping[str, bytes]:
        """Return the logs of the cluster's servers and of all current and deleted pods."""
        return {**self.printed, **content(self.place.logs.rglob("*.log"))}

    def _look(self, name: str) -> Object:
        self.printed |= content(self.place.logs.glob(f"*/pods/{self.namespace}_*/*/*.log"))
        return one(self.full_cluster.kubectl, self.namespace, "tj", name)


def content(files: Iterable[Path]) -> dict[str, bytes]:
    """Return the logs of the existing pods."""
    found = {}
    for file in files:
        with suppress(FileNotFoundError):
            found[str(file)] = file.read_bytes()
    return found


@pytest.fixture
def watched(operator: FullCluster, namespace: str, inside: ClusterFolder) -> Watched:
    """A namespace with the user's Secret."""
    since = asyncio.run(stored.revision(inside.running))
    keys = jobs.keys(operator)
    keys["stringData"]["TOKEN"] = UNUSED
    jobs.apply(operator.kubectl, namespace, keys)
    return Watched(operator, namespace, inside, since)


def test_of_jobs_in_one_pod(watched: Watched, bucket: Bucket) -> None:
    """Two jobs: one with valid keys of the cache, and one with keys that S3 refuses."""
    right = watched.full_cluster.s3["AWS_SECRET_ACCESS_KEY"]
    start(watched, jobs.weather("right", bucket), right)
    start(watched, jobs.weather("wrong", bucket), WRONG)
    good, bad = watched.ended("right"), watched.ended("wrong")
    assert (good["status"]["phase"], bad["status"]["phase"]) == ("Complete", "Failed"), bad["status"]
    check(watched, bucket, {right: [good], WRONG: [bad], UNUSED: []}, {"trainer"})


def test_of_a_job_on_ray(watched: Watched, bucket: Bucket) -> None:
    """A job with the longest valid name, which is too long for the names of its objects."""
    right = watched.full_cluster.s3["AWS_SECRET_ACCESS_KEY"]
    start(watched, jobs.on_ray(LONGEST_NAME, bucket), right)
    done = watched.ended(LONGEST_NAME)
    assert done["status"]["phase"] == "Complete", done["status"]
    check(watched, bucket, {right: [done], UNUSED: []}, {"ray", "submitter"})


def start(watched: Watched, job: dict[str, Any], secret: str) -> None:
    keys = {"aws_access_key_id": watched.full_cluster.s3["AWS_ACCESS_KEY_ID"], "aws_secret_access_key": secret}
    job["spec"]["backend"]["cache_credentials"] = keys
    job["spec"]["backoffLimit"] = 0
    jobs.apply(watched.full_cluster.kubectl, watched.namespace, job)


def check(watched: Watched, bucket: Bucket, given: Mapping[str, Sequence[Object]], containers: set[str]) -> None:
    """Search for the secrets. `given` has the jobs of each, which have it in `cache_credentials`."""
    versions = watched.versions()
    for secret, jobs_of in given.items():
        users = set() if secret == WRONG else {f"/registry/secrets/{watched.namespace}/{jobs.KEYS}"}
        belongs = users | {key for job in jobs_of for key in places_of(job)}
        assert {version.key for version in versions if holds(version.value, secret)} == belongs
        jobs_seen = [version.value for version in versions if version.key.startswith(JOBS)]
        assert not [job for job in jobs_seen if holds(of_others(job), secret)]

    kept = {key: bucket.read(key) for key in bucket.keys("")}
    assert {Path(file).parent.name for file in watched.printed} >= containers
    assert kept
    output_of = {**watched.logs(), **kept}
    assert [place for place, words in output_of.items() if any(holds(words, secret) for secret in given)] == []


def places_of(job: Object) -> set[str]:
    """Return the places that may contain the job's own secrets."""
    namespace, name, uid = (job["metadata"][key] for key in ("namespace", "name", "uid"))
    return {f"{JOBS}{namespace}/{name}", f"/registry/secrets/{namespace}/{names.common_name(name, uid)}"}
