"""The operator's process with a real API server: it leads, works, ends, and a successor takes over."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import pytest
from testkit.cluster.cluster import Cluster
from testkit.control_plane.installed import MANIFESTS
from testkit.control_plane.operator_process import eventually, operator
from testkit.harness.jobs import training_job


def holder(cluster: Cluster, namespace: str) -> str:
    found = ["get", "leases", f"-n={namespace}", "-o", "jsonpath={.items[*].spec.holderIdentity}"]
    return cluster.kubectl(*found).strip()


def children(cluster: Cluster, namespace: str) -> list[str]:
    return cluster.kubectl("get", "jobs.batch", f"-n={namespace}", "-o", "name").split()


def events(cluster: Cluster, namespace: str, name: str) -> list[list[str]]:
    """Type and reason of each event, as `kubectl describe` lists them."""
    described = cluster.kubectl("describe", "trainingjob", f"-n={namespace}", name)
    return [line.split()[:2] for line in described[described.index("Events:") :].splitlines()[3:]]


def apply(cluster: Cluster, namespace: str, name: str) -> None:
    whole = {"apiVersion": "trainwright.dev/v1alpha1", "kind": "TrainingJob", **training_job(name)}
    cluster.kubectl("apply", f"-n={namespace}", "-f", "-", stdin=json.dumps(whole))


def only(namespace: str) -> dict[str, str]:
    """Settings for an operator that shares the cluster with other tests."""
    return {"TRAINWRIGHT_NAMESPACE": namespace, "TRAINWRIGHT_NAMESPACES": namespace}


def test_it_leads_starts_a_job_and_ends_cleanly(cluster: Cluster, namespace: str, tmp_path: Path) -> None:
    with operator(cluster, tmp_path / "log", "one", **only(namespace)) as one:
        eventually(lambda: holder(cluster, namespace) == "one", one)
        apply(cluster, namespace, "flights")
        eventually(lambda: children(cluster, namespace) != [], one)
        # Events are written last; queued ones are lost with the process.
        eventually(lambda: len(events(cluster, namespace, "flights")) == 2, one)
        assert one.terminate() == 0
        assert holder(cluster, namespace) == ""
        assert "the Lease is released" in one.messages()
        assert {line["level"] for line in one.lines()} == {"info"}
    assert events(cluster, namespace, "flights") == [["Normal", "Accepted"], ["Normal", "Started"]]


def test_a_second_one_waits_and_leads_once_the_first_has_ended(
    cluster: Cluster, namespace: str, tmp_path: Path
) -> None:
    with operator(cluster, tmp_path / "one", "one", **only(namespace)) as one:
        eventually(lambda: holder(cluster, namespace) == "one", one)
        with operator(cluster, tmp_path / "two", "two", **only(namespace)) as two:
            eventually(lambda: "serving on port" in two.messages(), two)
            assert holder(cluster, namespace) == "one"
            one.terminate()
            eventually(lambda: holder(cluster, namespace) == "two", two)


def test_after_a_kill_the_second_one_leads_and_works(cluster: Cluster, namespace: str, tmp_path: Path) -> None:
    with operator(cluster, tmp_path / "one", "one", **only(namespace)) as one:
        eventually(lambda: holder(cluster, namespace) == "one", one)
        with operator(cluster, tmp_path / "two", "two", **only(namespace)) as two:
            eventually(lambda: "serving on port" in two.messages(), two)
            one.kill()
            apply(cluster, namespace, "flights")
            eventually(lambda: holder(cluster, namespace) == "two", two)
            eventually(lambda: children(cluster, namespace) != [], two)
            assert two.terminate() == 0


@pytest.mark.slow
def test_with_its_own_settings_the_other_takes_over(
    cluster: Cluster, namespace: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    defaults = {"TRAINWRIGHT_LEASE_DURATION": "12", "TRAINWRIGHT_LEASE_RENEW": "3", **only(namespace)}
    with operator(cluster, tmp_path / "one", "one", **defaults) as one:
        eventually(lambda: holder(cluster, namespace) == "one", one)
        with operator(cluster, tmp_path / "two", "two", **defaults) as two:
            eventually(lambda: "serving on port" in two.messages(), two)
            one.kill()
            killed = time.monotonic()
            eventually(lambda: holder(cluster, namespace) == "two", two)
            taken = time.monotonic() - killed
    with capsys.disabled():
        print(f"\nan operator that was killed is replaced in {taken:.1f} s")


def test_the_process_exits_as_soon_as_it_loses_the_lease(cluster: Cluster, namespace: str, tmp_path: Path) -> None:
    with operator(cluster, tmp_path / "log", "one", **only(namespace)) as one:
        eventually(lambda: holder(cluster, namespace) == "one", one)
        usurped = '{"spec": {"holderIdentity": "usurper"}}'
        cluster.kubectl("patch", "lease", f"-n={namespace}", "trainwright-operator", "--type=merge", "-p", usurped)
        assert one.process.wait(60) == 1
        assert one.lines()[-1]["message"] == "the Lease is held by usurper: exiting at once"


def test_the_manifests_are_taken_as_they_are(exclusive_cluster: Cluster) -> None:
    exclusive_cluster.kubectl("create", "namespace", "team-a")
    exclusive_cluster.kubectl("apply", "-f", str(MANIFESTS / "namespace.yaml"))
    for manifest in sorted(MANIFESTS.glob("*.yaml")):
        tried: subprocess.CompletedProcess[str] = exclusive_cluster.kubectl.run(
            "apply", "--dry-run=server", "--validate=strict", "-f", str(manifest)
        )
        assert (tried.returncode, tried.stderr) == (0, "")
