"""The chart on a real API server: installed, upgraded, uninstalled, and applied as by Argo CD."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from testkit.cluster import crds
from testkit.cluster.chart import CHART, Helm
from testkit.cluster.cluster import Cluster
from testkit.control_plane.installed import apply, objects
from testkit.harness import training_job

NAMESPACE = "trainwright"
DEFINITION = "customresourcedefinition.apiextensions.k8s.io/trainingjobs.trainwright.dev"
OF_THE_CLUSTER = ("clusterrole", "clusterrolebinding", "validatingwebhookconfiguration")
BUNDLE = "d2hvIHRvIHRydXN0"


class Installation:
    """The chart as one release on one cluster."""

    def __init__(self, cluster: Cluster, namespace: str = NAMESPACE) -> None:
        self.cluster, self.namespace = cluster, namespace
        self.helm = Helm(cluster.kubeconfig)

    def install(self, *values: str) -> str:
        return self._quiet("install", "trainwright", CHART, "--create-namespace", *values)

    def upgrade(self, *values: str) -> str:
        return self._quiet("upgrade", "trainwright", CHART, *values)

    def uninstall(self) -> str:
        return self._quiet("uninstall", "trainwright")

    def names(self) -> set[str]:
        """All existing objects of the release."""
        kinds = (
            "deployment,service,poddisruptionbudget,serviceaccount,role,rolebinding,"
            "customresourcedefinition,clusterrole,clusterrolebinding,validatingwebhookconfiguration"
        )
        chosen = ("--all-namespaces", "-l=app.kubernetes.io/managed-by=Helm", "-o=name")
        return set(self.cluster.kubectl("get", kinds, *chosen).split())

    def get(self, kind: str, name: str, namespace: str | None = None) -> dict[str, Any]:
        found = self.cluster.kubectl("get", kind, name, f"-n={namespace or self.namespace}", "-o=json")
        return dict(json.loads(found))

    def _quiet(self, *arguments: str) -> str:
        """Return the output; fail on a warning."""
        ended = self.helm.run(*arguments, f"--namespace={self.namespace}")
        assert (ended.returncode, ended.stderr) == (0, "")
        return ended.stdout


@pytest.fixture(scope="module")
def without_definitions(exclusive_cluster_of_module: Cluster) -> Cluster:
    """A cluster without our and KubeRay's CRDs. The operator's namespace enforces restricted pods."""
    cluster = exclusive_cluster_of_module
    cluster.kubectl("delete", "crd", "trainingjobs.trainwright.dev", "rayjobs.ray.io")
    apply(cluster, *objects("namespace.yaml"))
    for namespace in ("team-a", "team-b"):
        cluster.kubectl("create", "namespace", namespace)
    return cluster


@pytest.fixture
def bare(without_definitions: Cluster) -> Iterator[Cluster]:
    """The same cluster; no object of the chart is left afterwards."""
    yield without_definitions
    helm = Helm(without_definitions.kubeconfig)
    for release in json.loads(helm("list", "--all-namespaces", "--output=json")):
        helm("uninstall", release["name"], f"--namespace={release['namespace']}")
    for kind in ("customresourcedefinition", *OF_THE_CLUSTER):
        without_definitions.kubectl("delete", kind, "-l=app.kubernetes.io/name=trainwright")


def create_job(cluster: Cluster, namespace: str) -> None:
    cluster.kubectl("wait", "--for=condition=established", DEFINITION, "--timeout=60s")
    job = {"apiVersion": "trainwright.dev/v1alpha1", "kind": "TrainingJob", **training_job("flights")}
    cluster.kubectl("create", f"-n={namespace}", "-f=-", stdin=json.dumps(job))


def has_job(cluster: Cluster, namespace: str) -> bool:
    return cluster.kubectl("get", "tj", f"-n={namespace}", "-o=name").split() == ["trainingjob.trainwright.dev/flights"]


def trusts(cluster: Cluster, bundle: str) -> None:
    """Set the CA bundle as the leading operator does."""
    operation = {"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": bundle}
    cluster.kubectl(
        "patch", "validatingwebhookconfiguration", "trainwright", "--type=json", f"-p={json.dumps([operation])}"
    )


def bundle(webhook: Mapping[str, Any]) -> str:
    [entry] = webhook["webhooks"]
    return str(entry["clientConfig"]["caBundle"])


def test_nobody_is_informed_of_a_kuberay_that_is_there(cluster: Cluster) -> None:
    """A dry run, because other tests use this cluster too."""
    printed = Helm(cluster.kubeconfig)("install", "dry", CHART, "--dry-run=server", "--set=crds.enabled=false")
    assert "kubectl get tj --watch" in printed
    assert "KubeRay" not in printed.partition("NOTES:")[2]


def test_the_life_of_an_installation(bare: Cluster) -> None:
    """Helm passes on the API server's warnings, such as those about pods that it would refuse: there are none.

    Jobs survive an upgrade, an uninstallation, and the installation that follows it.
    """
    chart = Installation(bare)
    notes = chart.install("--set=webhook.timeoutSeconds=1")
    assert "kubectl get tj --watch" in notes
    assert "There is no KubeRay here" in notes
    create_job(bare, "team-a")
    made = chart.names()
    assert {DEFINITION, "deployment.apps/trainwright-operator", "service/trainwright"} < made

    trusts(bare, BUNDLE)
    chart.upgrade("--set=replicas=3", "--set=webhook.failurePolicy=Fail")
    assert chart.get("deployment", "trainwright-operator")["spec"]["replicas"] == 3
    webhook = chart.get("validatingwebhookconfiguration", "trainwright")
    assert (webhook["webhooks"][0]["failurePolicy"], bundle(webhook)) == ("Fail", BUNDLE)
    assert chart.names() == made

    chart.uninstall()
    assert chart.names() == {DEFINITION}
    assert has_job(bare, "team-a")

    chart.install("--set=crds.keep=false")
    assert chart.names() == made
    chart.uninstall()
    # The API server deletes the jobs first, then the definition.
    bare.kubectl("wait", "--for=delete", DEFINITION, "--timeout=60s")
    assert chart.names() == set()


def test_operators_of_single_namespaces_live_side_by_side(bare: Cluster) -> None:
    first, second = Installation(bare, "first"), Installation(bare, "second")
    assert "kubectl apply --namespace team-a -f trainingjob.yaml" in first.install("--set=namespaces={team-a}")
    of_the_first = first.names()
    second.install("--set=namespaces={team-b}", "--set=crds.enabled=false")
    assert first.get("role", "trainwright-jobs", "team-a")["rules"]
    assert second.get("role", "trainwright-jobs", "team-b")["rules"]
    second.uninstall()
    assert first.names() == of_the_first


def test_a_second_operator_for_the_whole_cluster_is_refused(bare: Cluster) -> None:
    Installation(bare, "first").install()
    ended = Helm(bare.kubeconfig).run("install", "other", CHART, "--namespace=second", "--create-namespace")
    assert ended.returncode != 0
    assert 'must equal "other": current value is "trainwright"' in ended.stderr


def test_a_definition_that_is_there_already_is_taken_over_when_that_is_asked_for(bare: Cluster) -> None:
    chart = Installation(bare)
    bare.kubectl("apply", "--server-side", "-f", str(crds.OURS))
    refused = chart.helm.run("install", "trainwright", CHART, f"--namespace={NAMESPACE}")
    assert "invalid ownership metadata" in refused.stderr
    chart.install("--take-ownership")
    assert DEFINITION in chart.names()


def test_what_argo_cd_applies_differs_from_nothing_afterwards(bare: Cluster, tmp_path: Path) -> None:
    """Server-side apply, as the chart requests it; the operator keeps its own field in the webhook."""
    chart = Installation(bare)
    file = tmp_path / "rendered.yaml"
    file.write_text(chart.helm.rendered())
    argo = ("--server-side", "--field-manager=argocd-controller", f"-f={file}")
    bare.kubectl("apply", *argo)
    trusts(bare, BUNDLE)
    assert bare.kubectl("diff", *argo) == ""
    bare.kubectl("apply", *argo)
    assert bundle(chart.get("validatingwebhookconfiguration", "trainwright")) == BUNDLE
