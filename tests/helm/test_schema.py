"""A value that the chart does not know, or that could not work, is refused before anything is installed."""

from __future__ import annotations

import pytest
from testkit.cluster.chart import Helm
from testkit.cluster.errors import ClusterError


def refusal(helm: Helm, value: str) -> str:
    with pytest.raises(ClusterError) as refused:
        helm.rendered(f"--set-json={value}")
    return str(refused.value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("replica=3", "at '': additional properties 'replica' not allowed"),
        ("settings.maxWorker=8", "at '/settings': additional properties 'maxWorker' not allowed"),
        ("settings.backoff.factor=2", "at '/settings/backoff': additional properties 'factor' not allowed"),
        ("settings.maxWorkers=1.5", "at '/settings/maxWorkers'"),
        ("settings.backoff.jitter=1", "at '/settings/backoff/jitter'"),
        ("settings.stopGrace=-1", "at '/settings/stopGrace'"),
        ("settings.serverPort=443", "at '/settings/serverPort'"),
        ('webhook.failurePolicy="ignore"', "value must be one of 'Ignore', 'Fail'"),
        ('trainer.rayVersion="latest"', "at '/trainer/rayVersion'"),
        ('image.digest="sha256:short"', "at '/image/digest'"),
        ('namespaces=["Team_A"]', "at '/namespaces/0'"),
        ('namespaces="team-a"', "got string, want array"),
        ('crds.keep="yes"', "got string, want boolean"),
        ('imagePullSecrets=["registry-key"]', "got string, want object"),
        ('extraEnv=[{"name": "TRAINWRIGHT_MAX_WORKERS", "value": "8"}]', "at '/extraEnv/0/name'"),
        ('policy.hostSettings=["hostPID"]', "at '/policy/hostSettings/0'"),
        ("jobs.podTemplate.limits={}", "at '/jobs/podTemplate': additional properties 'limits' not allowed"),
        (
            "jobs.podTemplate.worker.resources.limit={}",
            "at '/jobs/podTemplate/worker/resources': additional",
        ),
        ('jobs.podTemplate.nodeSelector={"pool": 1}', "at '/jobs/podTemplate/nodeSelector/pool'"),
        (
            'jobs.podTemplate.head.tolerations=[{"operator": "Exist"}]',
            "at '/jobs/podTemplate/head/tolerations/0/operator'",
        ),
        ('policy.volumes=["hostpath"]', "at '/policy/volumes/0'"),
        ('openshift="yes"', "at '/openshift'"),
        ('settings.progressUrl="trainwright.example.com"', "at '/settings/progressUrl'"),
        ('settings.progressUrl="https://trainwright.example.com/"', "at '/settings/progressUrl'"),
        ("settings.staleAfter=0", "at '/settings/staleAfter'"),
        ("settings.retryLimit=0", "at '/settings/retryLimit'"),
        ('registry="https://registry.example.com/team"', "at '/registry'"),
        ('policy.registries=["one, two"]', "at '/policy/registries/0'"),
        ("policy.maxGpuPerJob=1", "at '/policy': additional properties 'maxGpuPerJob' not allowed"),
        ('podLabels={"team": 7}', "at '/podLabels/team'"),
    ],
)
def test_mistake_is_refused_with_its_place(helm: Helm, value: str, message: str) -> None:
    assert message in refusal(helm, value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ('trainer.rayVersion="2.9.1"', "trainer.rayVersion is 2.9.1: it has to be 2.52.0 or later"),
        (
            "settings.leaseRenew=8",
            "settings.leaseRenew is 8: it has to be less than two thirds of leaseDuration, which is 12",
        ),
        ("settings.staleAfter=120", "settings.staleAfter is 120: it has to be more than watchTimeout, which is 300"),
    ],
)
def test_mistake_that_no_schema_can_show_is_refused_all_the_same(helm: Helm, value: str, message: str) -> None:
    assert message in refusal(helm, value)


def test_what_helm_hands_to_a_part_of_another_chart_is_no_mistake(helm: Helm) -> None:
    helm.rendered('--set-json=global={"imageRegistry": "example.com"}')


def test_defaults_of_jobs_have_every_form_of_kubernetes(helm: Helm) -> None:
    role = (
        '{"annotations": null, "resources": {"limits": {"cpu": 2, "memory": "8Gi"}}, "imagePullPolicy": null, '
        '"affinity": {"nodeAffinity": {}}, "volumes": [{"name": "a", "emptyDir": {}}], "hostIPC": false}'
    )
    helm.rendered(f"--set-json=jobs.podTemplate.worker={role}")
