"""The chart as Helm sees it: no complaint, the versions of the rest, and the one definition."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from ruamel.yaml import YAML
from testkit.cluster.chart import CHART, ROOT, Helm

from trainwright_operator.settings import Settings


@pytest.mark.parametrize("values", [(), ("--values=tests/helm/everything.values.yaml",)])
def test_lint_finds_nothing(helm: Helm, values: tuple[str, ...]) -> None:
    assert "1 chart(s) linted, 0 chart(s) failed" in helm("lint", "--strict", CHART, *values)


def test_the_versions_are_those_of_the_rest() -> None:
    chart = YAML(typ="safe").load((ROOT / CHART / "Chart.yaml").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert chart["version"] == chart["appVersion"] == project["version"]
    values = YAML(typ="safe").load((ROOT / CHART / "values.yaml").read_text())
    assert f"{values['trainer']['image']['repository']}:{chart['appVersion']}" == Settings().image
    assert values["trainer"]["rayVersion"] == Settings().ray_version


def test_rendering_is_the_same_every_time(helm: Helm) -> None:
    """Argo CD renders all the time, and would change what is not."""
    assert helm.rendered() == helm.rendered()


def test_without_the_definition_none_is_rendered(helm: Helm) -> None:
    assert "CustomResourceDefinition" not in helm.rendered("--set=crds.enabled=false")


@pytest.mark.parametrize(("keep", "policy"), [("true", "keep"), ("false", None)])
def test_the_definition_is_kept_if_wanted(helm: Helm, keep: str, policy: str | None) -> None:
    found = helm.rendered("--show-only=templates/crd.yaml", f"--set=crds.keep={keep}")
    annotations = YAML(typ="safe").load(found)["metadata"]["annotations"]
    assert annotations.get("helm.sh/resource-policy") == policy
    assert annotations["argocd.argoproj.io/sync-wave"] == "-1"


def test_the_definition_is_the_one_of_the_contract(helm: Helm) -> None:
    found = YAML(typ="safe").load(helm.rendered("--show-only=templates/crd.yaml"))
    ours = YAML(typ="safe").load((ROOT / "crds" / "trainwright.dev_trainingjobs.yaml").read_text())
    assert {**found, "metadata": {}} == {**ours, "metadata": {}}
    assert found["metadata"]["name"] == ours["metadata"]["name"]


@pytest.mark.parametrize(
    ("arguments", "fixed"),
    [
        ((), True),
        (("--api-versions=security.openshift.io/v1",), False),
        (("--api-versions=security.openshift.io/v1", "--set-string=openshift=false"), True),
        (("--set-string=openshift=true",), False),
        (("--set=openshift=true",), False),
        (("--api-versions=security.openshift.io/v1", "--set=openshift=false"), True),
    ],
)
def test_on_openshift_no_pod_names_a_user(helm: Helm, arguments: tuple[str, ...], fixed: bool) -> None:
    found = YAML(typ="safe").load(helm.rendered("--show-only=templates/deployment.yaml", *arguments))
    pod = found["spec"]["template"]["spec"]
    [variable] = [one["value"] for one in pod["containers"][0]["env"] if one["name"] == "TRAINWRIGHT_JOBS_FIXED_USER"]
    assert ("runAsUser" in pod["securityContext"], variable) == (fixed, str(fixed).lower())


def test_a_month_until_the_deletion_of_finished_jobs_is_a_whole_number(helm: Helm, tmp_path: Path) -> None:
    """Helm reads numbers of a file as floats, and writes a million and more as 1e+06 by itself."""
    (tmp_path / "values.yaml").write_text("jobs: {ttlSecondsAfterFinished: 2592000}")
    found = helm.rendered("--show-only=templates/deployment.yaml", f"--values={tmp_path / 'values.yaml'}")
    [container] = YAML(typ="safe").load(found)["spec"]["template"]["spec"]["containers"]
    name = "TRAINWRIGHT_JOBS_TTL_SECONDS_AFTER_FINISHED"
    assert [one["value"] for one in container["env"] if one["name"] == name] == ["2592000"]


def test_an_issuer_of_ones_own_replaces_the_charts(helm: Helm) -> None:
    values = "--set=certManager.enabled=true,certManager.issuerRef.name=corp,certManager.issuerRef.kind=ClusterIssuer"
    found = YAML(typ="safe").load(helm.rendered("--show-only=templates/certificate.yaml", values))
    assert found["spec"]["issuerRef"] == {"name": "corp", "kind": "ClusterIssuer"}


@pytest.mark.parametrize(
    ("url", "names", "addresses"),
    [
        ("", [], None),
        ("https://trainwright.trainwright.svc:9443", [], None),
        ("https://trainwright.example.com:9443", ["trainwright.example.com"], None),
        ("https://10.0.0.7:9443", [], ["10.0.0.7"]),
        ("https://[fd00::1]", [], ["fd00::1"]),
    ],
)
def test_the_certificate_of_cert_manager_has_the_host_of_the_progress_url(
    helm: Helm, url: str, names: list[str], addresses: list[str] | None
) -> None:
    values = f"--set=certManager.enabled=true,certManager.issuerRef.name=corp,settings.progressUrl={url}"
    found = YAML(typ="safe").load(helm.rendered("--show-only=templates/certificate.yaml", values))["spec"]
    service = "trainwright.trainwright"
    assert found["dnsNames"] == [f"{service}.svc", f"{service}.svc.cluster.local", service, *names]
    assert found.get("ipAddresses") == addresses


@pytest.mark.parametrize(
    ("days", "hours", "seconds"), [("90", 2160, 604_800), ("14", 336, 201_600), ("0.5", 12, 7_200)]
)
def test_a_short_certificate_is_asked_for_and_does_not_raise_the_alarm_before_its_renewal(
    helm: Helm, days: str, hours: int, seconds: int
) -> None:
    values = (f"--set-json=settings.certificateDays={days}", "--set=certManager.enabled=true")
    rules = "--set=metrics.prometheusRule.enabled=true"
    found = list(YAML(typ="safe").load_all(helm.rendered(rules, *values)))
    [duration] = [one["spec"]["duration"] for one in found if one and one["metadata"]["name"] == "trainwright-tls"]
    [group] = next(one["spec"]["groups"] for one in found if one and one["kind"] == "PrometheusRule")
    [alert] = [rule["expr"] for rule in group["rules"] if rule["alert"] == "TrainwrightCertificateEnds"]
    assert (duration, alert.rpartition(" ")[2]) == (f"{hours}h", str(seconds))


def test_a_pod_that_is_deleted_answers_reviews_a_little_longer(helm: Helm) -> None:
    [deployment] = [one for one in YAML(typ="safe").load_all(helm.rendered()) if one and one["kind"] == "Deployment"]
    spec = deployment["spec"]["template"]["spec"]
    assert spec["containers"][0]["lifecycle"]["preStop"]["exec"]["command"] == ["sleep", "5"]
    assert spec["terminationGracePeriodSeconds"] > 2 * 5


def test_a_key_without_a_value_is_the_empty_value(helm: Helm, tmp_path: Path) -> None:
    """As after commenting out what is below the key."""
    values = (
        "jobs: {podTemplate: }\nmetrics: {dashboard: {enabled: true, labels: }}\npodSecurityContext:\nopenshift: true"
    )
    (tmp_path / "values.yaml").write_text(values)
    found = list(YAML(typ="safe").load_all(helm.rendered(f"--values={tmp_path / 'values.yaml'}")))
    [deployment] = [one for one in found if one and one["kind"] == "Deployment"]
    environment = deployment["spec"]["template"]["spec"]["containers"][0]["env"]
    settings = Settings.from_environment({one["name"]: one.get("value", "") for one in environment})
    assert settings.jobs.pod_template == {}
    [dashboard] = [one for one in found if one and one["kind"] == "ConfigMap"]
    assert dashboard["metadata"]["labels"]["app.kubernetes.io/name"] == "trainwright"


def test_a_namespace_of_digits_is_a_text(helm: Helm) -> None:
    found = YAML(typ="safe").load_all(helm.rendered('--set-json=namespaces=["123"]'))
    roles = [one["metadata"]["namespace"] for one in found if one and one["metadata"]["name"] == "trainwright-jobs"]
    assert roles == ["123", "123"]
