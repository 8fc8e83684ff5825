from __future__ import annotations

from typing import Any

import pytest

from trainwright_operator.children import overlay

from .child_specs import BACKENDS, child_spec, container, env, mounts, sized, templates, trainers

TEMPLATE: dict[str, Any] = {
    "labels": {"team": "a"},
    "annotations": {"note": "b"},
    "nodeSelector": {"pool": "gpu"},
    "tolerations": [{"key": "gpu", "operator": "Exists"}],
    "affinity": {"nodeAffinity": {}},
    "priorityClassName": "high",
    "serviceAccountName": "trainer",
    "imagePullSecrets": [{"name": "registry"}],
    "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
    "volumeMounts": [{"name": "data", "mountPath": "/data"}],
    "env": [{"name": "HTTP_PROXY", "value": "http://proxy"}],
    "envFrom": [{"configMapRef": {"name": "settings"}}],
    "resources": {"requests": {"memory": "8Gi"}, "limits": {"memory": "16Gi"}},
    "securityContext": {"runAsUser": 2000, "supplementalGroups": [5]},
}


@pytest.mark.parametrize("backend", BACKENDS)
def test_scheduling_labels_and_environment_are_every_pods(backend: str) -> None:
    for template in templates(child_spec(backend, podTemplate=TEMPLATE)).values():
        spec = template["spec"]
        for key in ("nodeSelector", "affinity", "priorityClassName", "serviceAccountName", "imagePullSecrets"):
            assert spec[key] == TEMPLATE[key]
        assert spec["tolerations"][-1] == {"key": "gpu", "operator": "Exists"}
        assert len(spec["tolerations"]) == 3
        assert template["metadata"]["labels"]["team"] == "a"
        assert template["metadata"]["annotations"] == {"note": "b"}
        assert env(template)["HTTP_PROXY"] == "http://proxy"
        assert (spec["securityContext"]["runAsUser"], spec["securityContext"]["runAsNonRoot"]) == (2000, True)
        assert spec["securityContext"]["supplementalGroups"] == [5]


@pytest.mark.parametrize("backend", BACKENDS)
def test_data_and_secrets_are_every_training_pods(backend: str) -> None:
    made = child_spec(backend, podTemplate=TEMPLATE, credentials={"secretName": "keys"})
    for template in trainers(made).values():
        assert mounts(template)["/data"] == "data"
        assert TEMPLATE["volumes"][0] in template["spec"]["volumes"]
        assert container(template)["envFrom"] == [{"secretRef": {"name": "keys"}}, *TEMPLATE["envFrom"]]


def test_the_workers_resources_are_theirs_alone() -> None:
    made = templates(child_spec("ray", podTemplate=TEMPLATE))
    assert container(made["worker"])["resources"]["limits"] == {"memory": "16Gi"}
    assert "limits" not in container(made["head"])["resources"]
    assert container(made["submitter"])["resources"]["limits"] == {"memory": "1Gi"}


def test_the_submitter_mounts_no_data() -> None:
    submitter = templates(child_spec("ray", podTemplate=TEMPLATE))["submitter"]
    assert [volume["name"] for volume in submitter["spec"]["volumes"]] == ["trainwright-tmp"]


def test_a_variable_replaces_ours_by_name_but_never_those_that_the_program_is_led_by() -> None:
    given = [{"name": "HOME", "value": "/data"}, {"name": "TRAINWRIGHT_ATTEMPT", "value": "9"}]
    template = templates(child_spec(podTemplate={"env": given}))["trainer"]
    names = [item["name"] for item in container(template)["env"]]
    assert len(names) == len(set(names))
    assert (env(template)["HOME"], env(template)["TRAINWRIGHT_ATTEMPT"]) == ("/data", "1")


def test_a_variable_may_come_from_a_secret() -> None:
    source = {"secretKeyRef": {"name": "keys", "key": "token"}}
    template = templates(child_spec(podTemplate={"env": [{"name": "TOKEN", "valueFrom": source}]}))["trainer"]
    assert env(template)["TOKEN"] == source


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/tmp", "data"),
        ("/tmp/", "data"),
        ("/dev/shm", "data"),
        ("/etc/trainwright/job.yaml", "trainwright-job"),
        ("/etc/trainwright/../trainwright/job.yaml", "trainwright-job"),
        ("/var/run/secrets/trainwright", "trainwright-token"),
    ],
)
def test_a_mount_may_replace_a_scratch_place_but_not_what_we_show_the_program(path: str, name: str) -> None:
    given = {"volumes": TEMPLATE["volumes"], "volumeMounts": [{"name": "data", "mountPath": path}]}
    found = mounts(templates(child_spec(podTemplate=given))["trainer"])
    assert {where.rstrip("/"): volume for where, volume in found.items()}[_plain(path)] == name


def _plain(path: str) -> str:
    return path.replace("/trainwright/..", "").rstrip("/")


def test_a_volume_with_our_name_is_passed_over() -> None:
    given = {"volumes": [{"name": "trainwright-job", "emptyDir": {}}]}
    volumes = templates(child_spec(podTemplate=given))["trainer"]["spec"]["volumes"]
    assert next(volume for volume in volumes if volume["name"] == "trainwright-job").keys() == {"name", "configMap"}


GPU = "nvidia.com/gpu"


@pytest.mark.parametrize(
    ("theirs", "merged"),
    [
        ({}, {"requests": {"cpu": "1"}, "limits": {GPU: "1"}}),
        ({"requests": {"cpu": "4"}}, {"requests": {"cpu": "4"}, "limits": {GPU: "1"}}),
        ({"limits": {"cpu": "500m"}}, {"limits": {"cpu": "500m", GPU: "1"}}),
        (
            {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}},
            {"requests": {"cpu": "1"}, "limits": {"cpu": "2", GPU: "1"}},
        ),
        ({"requests": {GPU: 8}, "limits": {GPU: 8}}, {"requests": {"cpu": "1"}, "limits": {GPU: "1"}}),
        (
            {"limits": {"memory": "4Gi"}},
            {"requests": {"cpu": "1"}, "limits": {"memory": "4Gi", GPU: "1"}},
        ),
    ],
)
def test_resources_are_merged_and_gpus_stay_sized(theirs: dict[str, Any], merged: dict[str, Any]) -> None:
    own = {"requests": {"cpu": "1"}, "limits": {GPU: "1"}}
    assert overlay.resources(own, {"resources": theirs}, [GPU]) == merged


def test_gpus_that_nobody_resolved_are_not_taken() -> None:
    given = {"resources": {"limits": {GPU: 2}}}
    made = child_spec("ray", podTemplate=given, resolved=sized(1))
    assert "limits" not in container(templates(made)["worker"])["resources"]


def test_local_has_no_other_word_for_a_gpu_than_its_resources() -> None:
    given = {"resources": {"limits": {GPU: 1}}}
    assert container(templates(child_spec("local", podTemplate=given))["trainer"])["resources"]["limits"] == {GPU: 1}
