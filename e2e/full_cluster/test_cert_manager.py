"""Real cert-manager issues the certificate of the operator, and writes its CA into the webhook."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from testkit.cluster.cert_manager_process import cert_manager
from testkit.full_cluster import jobs, release
from testkit.full_cluster.bucket import Bucket
from testkit.full_cluster.full_cluster import FullCluster
from testkit.full_cluster.objects import one, until
from testkit.full_cluster.release import NAMESPACE

ISSUER = "cert-manager.io/issuer-name"


@pytest.fixture
def released(operator: FullCluster, tmp_path: Path) -> Iterator[FullCluster]:
    """The release changes from its own certificates to those of cert-manager, and back at the end."""
    with cert_manager(operator.kubectl, tmp_path) as running:
        try:
            release.install(operator, release.KEYS_ALLOWED, "--set=certManager.enabled=true")
            running.check()
            yield operator
        finally:
            left = authority(operator)
            release.install(operator, release.KEYS_ALLOWED)
            # The next test must not read the CA that cert-manager has left.
            until(lambda: authority(operator), lambda found: found != left, seconds=180, what="the operator's own CA")


def test_jobs_are_judged_and_train_under_its_certificate(released: FullCluster, namespace: str, bucket: Bucket) -> None:
    kubectl = released.kubectl
    kubectl("wait", f"-n={NAMESPACE}", "certificate/trainwright-tls", "--for=condition=Ready", "--timeout=120s")
    secret = one(kubectl, NAMESPACE, "secret", "trainwright-tls")
    assert secret["metadata"]["annotations"][ISSUER] == "trainwright-ca"
    issued = authority(released)
    # cert-manager adds its CA to those that are there.
    until(lambda: bundle(released), lambda found: issued in found, what="the CA in the webhook")

    jobs.apply(kubectl, namespace, jobs.keys(released))
    bad = jobs.weather("bad", bucket)
    bad["spec"]["config"] = {}
    # Until the operator serves the new certificate, the API server ignores it.
    until(lambda: answer(released, bad), lambda said: "denied the request" in said, what="a refusal")
    jobs.apply(kubectl, namespace, jobs.weather("good", bucket))
    status = jobs.ended(kubectl, namespace, "good")
    assert (status["phase"], status["attempt"]) == ("Complete", 1), status
    assert status["progress"]["fraction"] == 1.0, "its pod trusts the CA and has posted"


def answer(full_cluster: FullCluster, job: dict[str, Any]) -> str:
    """The error of the API server, which stores nothing."""
    return full_cluster.kubectl.run("create", "--dry-run=server", "-f=-", stdin=json.dumps(job)).stderr


def authority(full_cluster: FullCluster) -> bytes:
    return base64.b64decode(one(full_cluster.kubectl, NAMESPACE, "secret", "trainwright-tls")["data"]["ca.crt"])


def bundle(full_cluster: FullCluster) -> bytes:
    found = one(full_cluster.kubectl, NAMESPACE, "validatingwebhookconfiguration", "trainwright")
    return base64.b64decode(found["webhooks"][0]["clientConfig"].get("caBundle", ""))
