from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from trainwright_operator.children import overlay
from trainwright_operator.job_defaults import JobDefaults

from .child_specs import BACKENDS, SETTINGS, child_spec, container, env, mounts, sized, templates, trainers

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


EVICTION = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false", "karpenter.sh/do-not-disrupt": "true"}


@pytest.mark.parametrize("backend", BACKENDS)
def test_scheduling_labels_and_environment_are_every_pods(backend: str) -> None:
    for template in templates(child_spec(backend, podTemplate=TEMPLATE)).values():
        spec = template["spec"]
        for key in ("nodeSelector", "affinity", "priorityClassName", "serviceAccountName", "imagePullSecrets"):
            assert spec[key] == TEMPLATE[key]
        assert spec["tolerations"][-1] == {"key": "gpu", "operator": "Exists"}
        assert len(spec["tolerations"]) == 3
        assert template["metadata"]["labels"]["team"] == "a"
        assert template["metadata"]["annotations"] == {"note": "b", **EVICTION}
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
        (
            {"requests": {"rdma/ib": 1, "hugepages-2Mi": "1Gi", "memory": "1Gi"}},
            {
                "requests": {"cpu": "1", "rdma/ib": 1, "hugepages-2Mi": "1Gi", "memory": "1Gi"},
                "limits": {GPU: "1", "rdma/ib": 1, "hugepages-2Mi": "1Gi"},
            },
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


SCHEDULED: dict[str, Any] = {
    "runtimeClassName": "nvidia",
    "schedulerName": "volcano",
    "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "labelSelector": {"matchLabels": {"a": "b"}}}],
    "hostNetwork": True,
    "hostIPC": True,
}


@pytest.mark.parametrize("backend", BACKENDS)
def test_fields_of_a_pod_reach_every_pod_as_they_are(backend: str) -> None:
    given = {**SCHEDULED, "imagePullPolicy": "Always", "containerSecurityContext": {"capabilities": {"drop": ["ALL"]}}}
    for template in templates(child_spec(backend, podTemplate=given)).values():
        assert {key: template["spec"][key] for key in SCHEDULED} == SCHEDULED
        assert template["spec"]["dnsPolicy"] == "ClusterFirstWithHostNet"
        assert container(template)["imagePullPolicy"] == "Always"
        assert container(template)["securityContext"]["readOnlyRootFilesystem"] is True


def test_without_them_a_pod_lacks_them() -> None:
    for template in templates(child_spec("ray")).values():
        assert not {*SCHEDULED, "dnsPolicy", "initContainers", "resourceClaims"} & set(template["spec"])
        assert "imagePullPolicy" not in container(template)


@pytest.mark.parametrize("role", ["head", "worker", "submitter"])
def test_a_part_reaches_the_pods_of_its_role_alone(role: str) -> None:
    part = {
        "nodeSelector": {"pool": role},
        "tolerations": [{"key": role}],
        "resources": {"requests": {"memory": "3Gi"}, "limits": {"memory": "3Gi", "cpu": "2"}},
        "env": [{"name": "WHO", "value": role}, {"name": "ALL", "value": "replaced"}],
        "volumes": [{"name": "own", "emptyDir": {}}],
        "volumeMounts": [{"name": "own", "mountPath": "/own"}],
        "initContainers": [{"name": "first", "command": ["true"]}],
    }
    shared = {"nodeSelector": {"arch": "amd64"}, "env": [{"name": "ALL", "value": "all"}]}
    for found, template in templates(child_spec("ray", podTemplate={**shared, role: part})).items():
        has = found == role
        spec, variables = template["spec"], env(template)
        assert spec["nodeSelector"] == {"arch": "amd64", **({"pool": role} if has else {})}
        assert ({"key": role} in spec["tolerations"]) is has
        assert (variables.get("WHO"), variables["ALL"]) == ((role, "replaced") if has else (None, "all"))
        assert (container(template)["resources"].get("limits", {}).get("cpu") == "2") is has
        assert ("/own" in mounts(template)) is has
        assert [one["name"] for one in spec.get("initContainers", ())] == (["first"] if has else [])


def test_the_part_for_preprocessing_reaches_its_pod() -> None:
    given = {"nodeSelector": {"all": "x"}, "preprocess": {"nodeSelector": {"pool": "cpu"}}}
    gpu = {"worker": {"nodeSelector": {"pool": "gpu"}, "resources": {"limits": {"memory": "9Gi", GPU: 1}}}}
    made = child_spec("ray", stage="preprocess", podTemplate={**given, **gpu})
    template = templates(made)["worker"]
    assert template["spec"]["nodeSelector"] == {"all": "x", "pool": "cpu"}
    assert container(template)["resources"] == {"requests": {"cpu": "1"}}


def test_a_spread_constraint_without_a_selector_is_about_the_pods_of_the_attempt() -> None:
    made = templates(
        child_spec("ray", podTemplate={"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "rack"}]})
    )
    (spread,) = made["worker"]["spec"]["topologySpreadConstraints"]
    assert spread["labelSelector"]["matchLabels"].items() <= made["worker"]["metadata"]["labels"].items()
    assert spread["labelSelector"]["matchLabels"]["trainwright.dev/attempt"] == "1"


def test_of_two_spread_constraints_with_one_name_the_upper_one_counts() -> None:
    """The API server takes each pair of topologyKey and whenUnsatisfiable once."""
    soft = {"topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
    hard = {"topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 1}
    found = overlay.template_of(
        "worker",
        {"topologySpreadConstraints": [{**soft, "maxSkew": 1}, hard]},
        {"topologySpreadConstraints": [{**soft, "maxSkew": 5}]},
    )
    assert found["topologySpreadConstraints"] == [hard, {**soft, "maxSkew": 5}]


def test_a_capability_that_is_added_leaves_the_others_dropped() -> None:
    given = {"capabilities": {"add": ["IPC_LOCK"]}}
    first = {"initContainers": [{"name": "one", "securityContext": given}]}
    made = templates(child_spec("local", podTemplate={"containerSecurityContext": given, **first}))["trainer"]
    for found in (container(made), made["spec"]["initContainers"][0]):
        assert found["securityContext"]["capabilities"] == {"drop": ["ALL"], "add": ["IPC_LOCK"]}


def test_nodes_have_to_fit_the_terms_of_all_templates() -> None:
    """A node needs to fit one term of a list alone, so a list with the terms of both would let more nodes in."""

    def required(*terms: dict[str, Any]) -> dict[str, Any]:
        return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}}

    def having(key: str) -> dict[str, Any]:
        return {"key": key, "operator": "Exists"}

    zones = required({"matchExpressions": [having("a")]}, {"matchFields": [having("b")]})
    given = {"affinity": zones, "worker": {"affinity": required({"matchExpressions": [having("gpu")]})}}
    made = templates(child_spec("ray", podTemplate=given))
    assert made["head"]["spec"]["affinity"] == zones
    assert made["worker"]["spec"]["affinity"] == required(
        {"matchExpressions": [having("a"), having("gpu")]},
        {"matchExpressions": [having("gpu")], "matchFields": [having("b")]},
    )


def test_a_toleration_replaces_ours_of_the_same_taint() -> None:
    patient = {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "tolerationSeconds": 3600}
    found = templates(child_spec("local", podTemplate={"tolerations": [patient]}))["trainer"]["spec"]["tolerations"]
    assert [one for one in found if one["key"] == patient["key"]] == [patient]
    assert len(found) == 2


def test_a_container_that_runs_first_is_restricted_and_has_our_image_unless_it_says_otherwise() -> None:
    own = {"name": "two", "image": "tools:1", "securityContext": {"readOnlyRootFilesystem": False}}
    given = {"initContainers": [{"name": "one", "command": ["sync"]}, own]}
    made = templates(child_spec("ray", podTemplate=given))
    one, two = made["worker"]["spec"]["initContainers"]
    assert (one["image"], one["command"]) == ("trainwright:1", ["sync"])
    assert one["securityContext"] == container(made["worker"])["securityContext"]
    assert two["image"] == "tools:1"
    assert two["securityContext"] == {**one["securityContext"], "readOnlyRootFilesystem": False}
    assert "initContainers" not in made["submitter"]["spec"]


def test_claims_of_devices_are_the_workers() -> None:
    claim = {"name": "gpus", "resourceClaimTemplateName": "one-gpu"}
    given = {"resourceClaims": [claim], "resources": {"claims": [{"name": "gpus"}]}}
    made = templates(child_spec("ray", podTemplate=given))
    assert made["worker"]["spec"]["resourceClaims"] == [claim]
    assert container(made["worker"])["resources"]["claims"] == [{"name": "gpus"}]
    for role in ("head", "submitter"):
        assert "resourceClaims" not in made[role]["spec"]
        assert "claims" not in container(made[role])["resources"]


def test_the_administrators_defaults_lie_below_the_job() -> None:
    defaults = {
        "labels": {"from": "chart", "cost": "shared"},
        "tolerations": [{"key": "chart"}],
        "imagePullSecrets": [{"name": "chart"}],
        "securityContext": {"runAsUser": 4000},
        "head": {"resources": {"limits": {"memory": "2Gi", "cpu": "1"}}},
        "worker": {"resources": {"limits": {"memory": "8Gi", "cpu": "4"}}},
        "submitter": {"resources": {"limits": {"cpu": "200m"}}},
    }
    settings = replace(SETTINGS, jobs=JobDefaults(pod_template=defaults))
    given = {
        "labels": {"from": "job"},
        "tolerations": [{"key": "job"}],
        "worker": {"resources": {"limits": {"cpu": 2}}},
    }
    made = templates(child_spec("ray", settings=settings, podTemplate=given))
    for template in made.values():
        assert template["metadata"]["labels"].items() >= {"from": "job", "cost": "shared"}.items()
        assert template["spec"]["tolerations"][-2:] == [{"key": "chart"}, {"key": "job"}]
        assert template["spec"]["imagePullSecrets"] == [{"name": "chart"}]
        assert template["spec"]["securityContext"]["runAsUser"] == 4000
    limits = {role: container(template)["resources"]["limits"] for role, template in made.items()}
    assert limits == {
        "head": {"memory": "2Gi", "cpu": "1"},
        "worker": {"memory": "8Gi", "cpu": 2},
        "submitter": {"memory": "1Gi", "cpu": "200m"},
    }


@pytest.mark.parametrize(
    ("given", "merged"),
    [
        ({"limits": {"memory": "2Gi"}}, {"requests": {}, "limits": {"memory": "2Gi"}}),
        ({"limits": {"memory": "6Gi"}}, {"requests": {"memory": "4Gi"}, "limits": {"memory": "6Gi"}}),
        ({"requests": {"memory": "16Gi"}}, {"requests": {"memory": "16Gi"}, "limits": {}}),
        ({"requests": {"memory": "6Gi"}}, {"requests": {"memory": "6Gi"}, "limits": {"memory": "8Gi"}}),
        (
            {"requests": {"memory": "9Gi"}, "limits": {"memory": "10Gi"}},
            {"requests": {"memory": "9Gi"}, "limits": {"memory": "10Gi"}},
        ),
    ],
)
def test_no_request_of_one_template_exceeds_a_limit_of_another(given: dict[str, Any], merged: dict[str, Any]) -> None:
    defaults = {"worker": {"resources": {"requests": {"memory": "4Gi"}, "limits": {"memory": "8Gi"}}}}
    assert overlay.template_of("worker", defaults, {"resources": given})["resources"] == merged


@pytest.mark.parametrize("name", ["rdma/hca", "hugepages-2Mi"])
@pytest.mark.parametrize(
    ("default", "given"),
    [
        ({"requests": "1"}, {"limits": "2"}),
        ({"limits": "2"}, {"requests": "1"}),
        ({"requests": "1", "limits": "1"}, {"limits": "2"}),
        ({"requests": "2", "limits": "2"}, {"requests": "1"}),
    ],
)
def test_the_upper_side_of_a_device_replaces_the_other_side_below(
    name: str, default: dict[str, str], given: dict[str, str]
) -> None:
    below, above = ({side: {name: amount} for side, amount in part.items()} for part in (default, given))
    [asked] = given.values()
    found = overlay.resources({}, overlay.template_of("worker", {"resources": below}, {"resources": above}), ())
    assert set(overlay.asked(found).values()) == set(found["limits"].values()) == {asked}


def test_a_request_above_our_own_limit_drops_it() -> None:
    given = {"submitter": {"resources": {"requests": {"memory": "2Gi"}}}}
    found = container(templates(child_spec("ray", podTemplate=given))["submitter"])["resources"]
    assert found == {"requests": {"cpu": "100m", "memory": "2Gi"}}


def test_where_the_platform_sets_the_user_none_is_named() -> None:
    settings = replace(SETTINGS, jobs=JobDefaults(fixed_user=False))
    for template in templates(child_spec("ray", settings=settings)).values():
        found = template["spec"]["securityContext"]
        assert not {"runAsUser", "runAsGroup", "fsGroup"} & set(found)
        assert found["runAsNonRoot"] is True
