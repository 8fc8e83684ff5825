"""The judgement of a job in a cluster: the words of `validate`, and what only a cluster can fail."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from trainwright_api.checks import cluster
from trainwright_api.checks.cluster import changed, fixed_digest, validate_job
from trainwright_api.checks.validate import validate_document
from trainwright_api.problems import Mistakes

JOB: dict[str, Any] = {
    "apiVersion": "trainwright.dev/v1alpha1",
    "kind": "TrainingJob",
    "metadata": {"name": "late"},
    "spec": {
        "dataset": "s3://bucket/flights.parquet",
        "output": "s3://bucket/runs",
        "config": {
            "input_features": [{"name": "size", "type": "number"}],
            "output_features": [{"name": "late", "type": "binary"}],
        },
        "backend": {"type": "local"},
    },
}
SERVER_WRITTEN = {
    "uid": "0c0ffee0-0000",
    "generation": 3,
    "resourceVersion": "12",
    "creationTimestamp": "2026-01-01T00:00:00Z",
    "managedFields": [{"manager": "kubectl", "fieldsV1": {"f:spec": {}}}],
    "aFieldOfALaterKubernetes": {"x": 1},
}
MOUNTED = {
    "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
    "volumeMounts": [{"name": "data", "mountPath": "/data"}],
}


def job(**spec: Any) -> dict[str, Any]:
    """A good job with these keys of its spec changed; None takes one away."""
    made = copy.deepcopy(JOB)
    made["spec"].update(spec)
    made["spec"] = {key: value for key, value in made["spec"].items() if value is not None}
    return made


def message(**spec: Any) -> str:
    result = validate_job(job(**spec))
    assert (result.spec is None) == bool(result.message)
    return result.message


def test_a_good_job_is_accepted_without_a_word():
    result = validate_job(JOB)
    assert result.spec is not None
    assert (result.message, result.warnings) == ("", ())


def test_a_missing_backend_stays_open_and_is_checked_as_ray():
    spec = validate_job(job(backend={"trainer": {"num_workers": 2}})).spec
    assert spec is not None
    assert (spec.backend.is_open, spec.with_kuberay.backend.type) == (True, "ray")
    wrong = {"trainer": {"use_gpu": True, "logdir": "logs"}}
    assert message(backend=wrong, rayVersion="2.9.0").splitlines()[1:] == [
        "  rayVersion              2.9.0 is too old: Ray asks for tokens from 2.52.0 on",
        "  backend.trainer.logdir  not built yet (this version keeps logs in the run folder)",
    ]
    assert "compile: acts with strategies ddp" in message(
        backend={"trainer": {"num_workers": 2, "strategy": "deepspeed"}},
        config={**JOB["spec"]["config"], "trainer": {"compile": True}},
    )


def test_what_the_server_writes_is_not_the_users_mistake():
    stored = copy.deepcopy(JOB)
    stored["metadata"].update(SERVER_WRITTEN)
    stored["status"] = {"phase": "Running", "neverHeardOf": 1}
    assert validate_job(stored) == validate_job(JOB)


def test_a_mistake_reads_as_validate_prints_it():
    wrong = job(backend={"type": "ray", "trainer": {"num_worker": 2}})
    with pytest.raises(Mistakes) as mistakes:
        validate_document(wrong, "late")
    assert validate_job(wrong).message == mistakes.value.render("late")
    assert validate_job(wrong).message.startswith("late: backend.trainer.num_worker: unknown")


def test_the_name_can_be_reported():
    nameless = {**job(dataset=None), "metadata": {"generateName": "late-"}}
    assert validate_job(nameless, "job.yaml").message.startswith("job.yaml: dataset: missing")
    assert validate_job(nameless).message.startswith("late-: dataset: missing")


def test_mistakes_come_in_the_order_of_a_file_though_the_server_sorts_keys():
    wrong = job(backend={"loader": {"x": 1}, "cache_dirs": "s3://c"}, dataset=3, seed=-1)
    wrong["spec"] = dict(sorted(wrong["spec"].items()))
    places = [line.split()[0] for line in validate_job(wrong).message.splitlines()[1:]]
    assert places == ["dataset", "backend.loader.x", "backend.cache_dirs", "seed"]


@pytest.mark.parametrize("field", ["dataset", "output", "resumeFrom"])
def test_a_path_of_nobody_knows_which_machine_is_refused(field):
    assert message(image="mine:1", **{field: "runs"}).startswith(f"late: {field}: pods do not see 'runs': give a URI")


@pytest.mark.parametrize("field", ["dataset", "output", "resumeFrom"])
def test_a_path_on_a_volume_of_all_jobs_is_good(field):
    """An administrator mounts it in the chart's `jobs.podTemplate`."""
    on_it = job(**{field: "/data/x"})
    assert validate_job(on_it).spec is None
    assert validate_job(on_it, template=MOUNTED).message == ""


def test_a_job_mounts_a_volume_of_all_jobs_at_a_second_path():
    mounts = [{"name": "data", "mountPath": "/runs", "subPath": "runs"}]
    assert validate_job(job(output="/runs/x", podTemplate={"volumeMounts": mounts}), template=MOUNTED).message == ""
    submitter = {"submitter": {"volumeMounts": mounts}}
    assert "is no volume" in validate_job(job(podTemplate=submitter), template=MOUNTED).message


@pytest.mark.parametrize("field", ["dataset", "output", "resumeFrom"])
def test_a_path_on_no_volume_is_refused_with_what_is_mounted(field):
    mistakes_of = message(image="mine:1", **{field: "/date/x"}, podTemplate=MOUNTED)
    assert mistakes_of == (
        f"late: {field}: pods do not see '/date/x': mount a volume there (podTemplate.volumeMounts has /data), "
        "or give a URI"
    )


@pytest.mark.parametrize("path", ["/data", "/data/x", "/data/a/../x", "file:///data/x"])
def test_a_path_on_a_volume_is_good(path):
    assert message(output=path, dataset=path, podTemplate=MOUNTED) == ""


@pytest.mark.parametrize("path", ["/database", "/data/../x", "/", "file:///x"])
def test_a_path_that_only_looks_as_if_it_lay_on_a_volume_is_refused(path):
    assert "pods do not see" in message(output=path, podTemplate=MOUNTED)


def test_a_model_and_a_cache_have_to_be_seen_too():
    mistakes_of = message(config=None, task="predict", model="model", backend={"cache_dir": "/cache"})
    assert [line.split()[0] for line in mistakes_of.splitlines()[1:]] == ["model", "backend.cache_dir"]


def test_data_of_a_store_that_is_only_read_need_a_place_for_the_cache():
    place, line = "https://host/flights.parquet", "nothing is written beside https:// data"
    assert message(dataset=place).startswith(f"late: backend.cache_dir: missing: {line}")
    assert message(dataset=place, backend={"type": "local", "cache_dir": "s3://bucket/cache"}) == ""
    assert message(dataset=place, config=None, task="predict", model="s3://bucket/model") == ""


def test_a_cluster_needs_an_output():
    assert message(output=None).startswith("late: output: missing: pods need a URI, as in s3://bucket/runs")


def test_what_is_written_cannot_lie_on_a_mount_that_is_read_only():
    mounts = [{"name": "data", "mountPath": "/data", "readOnly": True}, {"name": "data", "mountPath": "/data/runs"}]
    template = {**MOUNTED, "volumeMounts": mounts}
    assert "'/data/x' is to be written" in message(output="/data/x", podTemplate=template)
    assert message(output="/data/runs/x", dataset="/data/x", podTemplate=template) == ""


def test_credentials_as_a_path_name_a_file_of_the_secret():
    backend = {"cache_credentials": "/etc/trainwright/credentials/keys.json"}
    assert message(backend=backend, credentials={"secretName": "keys"}) == ""
    assert message(backend=backend) == (
        "late: credentials: missing: backend.cache_credentials is a file, so name its Secret in secretName"
    )


@pytest.mark.parametrize("path", ["wJalrXUtnFEMI", "/etc/trainwright/credentials", "/etc/trainwright/credentials/../k"])
def test_credentials_elsewhere_are_not_seen_by_pods(path):
    mistakes_of = message(backend={"credentials": {"artifacts": path}}, credentials={"secretName": "mine"})
    assert mistakes_of == (
        "late: backend.credentials.artifacts: pods do not see this file: put it into the Secret mine of "
        "credentials.secretName (kubectl create secret generic mine --from-file=keys.json), and write "
        "/etc/trainwright/credentials/keys.json here"
    )


def test_the_documents_own_example_of_credentials_names_what_to_write_instead():
    """The backend section of Ludwig's documentation."""
    backend = {"cache_dir": "s3://my_bucket/cache", "cache_credentials": "/home/user/.credentials.json"}
    lines = message(backend=backend).splitlines()
    assert [line.strip() for line in lines[1:]] == [
        "backend.cache_credentials  pods do not see this file: put it into the Secret keys of credentials.secretName "
        "(kubectl create secret generic keys --from-file=/home/user/.credentials.json), and write "
        "/etc/trainwright/credentials/.credentials.json here",
        "credentials                missing: backend.cache_credentials is a file, so name its Secret in secretName",
    ]


def test_keys_in_the_file_work_and_draw_a_warning():
    result = validate_job(job(backend={"cache_credentials": {"key": "x"}}))
    assert result.spec is not None
    assert result.warnings == (
        "backend.cache_credentials holds keys in plain text: better name a file, or a Secret in spec.credentials",
    )


@pytest.mark.parametrize(
    ("template", "mistakes_of"),
    [
        (
            {"volumes": [{"name": "trainwright-job"}]},
            "podTemplate.volumes[0].name: 'trainwright-job' is the operator's",
        ),
        ({"env": [{"name": "TRAINWRIGHT_RUN"}]}, "podTemplate.env[0].name: 'TRAINWRIGHT_RUN' is the operator's own"),
        (
            {**MOUNTED, "volumeMounts": [{"name": "dta", "mountPath": "/x"}]},
            "podTemplate.volumeMounts[0].name: 'dta' is no volume of podTemplate.volumes: did you mean 'data'?",
        ),
        (
            {"volumeMounts": [{"name": "data", "mountPath": "/x"}]},
            "podTemplate.volumeMounts[0].name: 'data' is no volume of podTemplate.volumes: add it there",
        ),
        (
            {"head": {"env": [{"name": "TRAINWRIGHT_RUN"}]}},
            "podTemplate.head.env[0].name: 'TRAINWRIGHT_RUN' is the operator's own",
        ),
        (
            {"volumes": [{"name": "data"}], "submitter": {"volumeMounts": [{"name": "data", "mountPath": "/d"}]}},
            "podTemplate.submitter.volumeMounts[0].name: 'data' is no volume",
        ),
        (
            {"resourceClaims": [{"name": "a"}], "head": {"resources": {"claims": [{"name": "a"}]}}},
            "podTemplate.head.resources.claims[0].name: 'a' is no claim of podTemplate.head.resourceClaims: add",
        ),
    ],
)
def test_an_overlay_leaves_the_operators_names_alone_and_names_volumes_that_are_there(template, mistakes_of):
    assert message(podTemplate=template).startswith(f"late: {mistakes_of}")


@pytest.mark.parametrize(
    ("template", "mistake"),
    [
        (
            {"resources": {"requests": {"memory": "2Gi"}, "limits": {"memory": "1Gi"}}},
            "podTemplate.resources.requests.memory: expected at most the limit of 1Gi, found 2Gi",
        ),
        (
            {"head": {"resources": {"requests": {"cpu": 2}, "limits": {"cpu": "1500m"}}}},
            "podTemplate.head.resources.requests.cpu: expected at most the limit of 1500m, found 2",
        ),
        (
            {"worker": {"resources": {"limits": {"nvidia.com/gpu": "500m"}}}},
            "podTemplate.worker.resources.limits.nvidia.com/gpu: expected a whole number of devices, found 500m",
        ),
        (
            {"preprocess": {"resources": {"limits": {"nvidia.com/gpu": 1}}}},
            "podTemplate.preprocess.resources.limits.nvidia.com/gpu: the preprocess stage has no devices: remove it",
        ),
        (
            {"preprocess": {"resourceClaims": [{"name": "a"}], "resources": {"claims": [{"name": "a"}]}}},
            "podTemplate.preprocess.resources.claims: the preprocess stage has no devices: remove it",
        ),
        (
            {"preprocess": {"initContainers": [{"name": "a", "resources": {"requests": {"amd.com/gpu": "1"}}}]}},
            "podTemplate.preprocess.initContainers[0].resources.requests.amd.com/gpu: the preprocess stage has no",
        ),
        (
            {"resources": {"requests": {"rdma/ib": 1}, "limits": {"rdma/ib": "2"}}},
            "podTemplate.resources.requests.rdma/ib: expected the limit of 2, found 1",
        ),
        (
            {"head": {"resources": {"requests": {"hugepages-2Mi": "1Gi"}, "limits": {"hugepages-2Mi": "2Gi"}}}},
            "podTemplate.head.resources.requests.hugepages-2Mi: expected the limit of 2Gi, found 1Gi",
        ),
        (
            {"resources": {"limits": {"memory": "-4Gi"}}},
            "podTemplate.resources.limits.memory: expected a quantity such as 500m, 2 or 16Gi, found the text '-4Gi'",
        ),
        (
            {"tolerations": [{"operator": "Exists"}, {"key": "gpu", "operator": "Exists", "value": "yes"}]},
            "podTemplate.tolerations[1].value: does not act with operator Exists: remove it",
        ),
        (
            {"worker": {"tolerations": [{"value": "yes", "effect": "NoSchedule"}]}},
            "podTemplate.worker.tolerations[0].key: is missing",
        ),
        (
            {"tolerations": [{"key": "gpu", "tolerationSeconds": 60}]},
            "podTemplate.tolerations[0].tolerationSeconds: acts with effect NoExecute alone",
        ),
    ],
)
def test_what_no_pod_can_have_is_a_mistake(template, mistake):
    assert message(podTemplate=template).startswith(f"late: {mistake}")


def test_a_request_may_equal_its_limit_in_another_unit():
    resources = {"requests": {"memory": "1024Mi", "cpu": "0.5"}, "limits": {"memory": "1Gi", "cpu": "500m"}}
    assert message(podTemplate={"resources": resources}) == ""


@pytest.mark.parametrize(
    "path", ["/etc/trainwright", "/etc/trainwright/x", "/etc/./trainwright/", "/run/secrets/trainwright/token"]
)
def test_nothing_is_mounted_over_the_operators_own_folders(path):
    template = {**MOUNTED, "volumeMounts": [{"name": "data", "mountPath": path}]}
    assert f"{path!r} is the operator's own: choose a path outside" in message(podTemplate=template)


@pytest.mark.parametrize(
    "raw",
    [{}, {"spec": None}, {"metadata": [], "spec": 3}, {"metadata": {"name": 5}, "spec": {"config": [1], "backend": 2}}],
)
def test_whatever_a_user_has_written_is_a_mistake_and_no_error(raw):
    assert validate_job(raw).spec is None


@pytest.mark.parametrize("levels", [32, 300, 900])
def test_what_is_nested_too_deeply_is_a_mistake_and_no_error(levels):
    deep: dict[str, Any] = {}
    for _ in range(levels):
        deep = {"x": [deep]}
    entrypoint = {"module": "m", "function": "f", "config": deep}
    assert message(config=None, entrypoint=entrypoint) == "late: nested more than 64 levels deep"


def same(change: Callable[[dict[str, Any]], object]) -> bool:
    other = copy.deepcopy(JOB)
    change(other["spec"])
    result = validate_job(other)
    assert result.spec is not None
    return result.digest == validate_job(JOB).digest


def test_the_digest_is_of_what_is_fixed_and_of_its_meaning():
    assert same(lambda spec: spec.update(suspend=True, backoffLimit=1))
    assert same(lambda spec: spec.update(config=dict(reversed(spec["config"].items()))))
    assert not same(lambda spec: spec.update(dataset="s3://bucket/other.parquet"))
    assert not same(lambda spec: spec["config"].update(trainer={"epochs": 2}))
    assert not same(lambda spec: spec["backend"].update(cache_credentials={"key": "x"}))


def test_the_digest_shows_nothing_of_keys():
    one, other = (job(backend={"type": "ray", "cache_credentials": {"secret": word}}) for word in ("a", "b"))
    assert validate_job(one).digest == validate_job(other).digest


def test_an_old_spelling_is_the_same_as_its_successor():
    old = job(backend={"type": "ray", "engine": {"type": "pandas"}})
    new = job(backend={"type": "ray", "processor": {"type": "pandas"}})
    assert validate_job(old).digest == validate_job(new).digest
    assert validate_job(old).warnings == ("backend.engine is read as backend.processor",)


def test_a_spec_that_is_not_valid_has_a_digest_too():
    assert validate_job(job(dataset=1)).digest != validate_job(job(dataset=2)).digest


def test_what_was_changed_is_named():
    old, new = validate_job(JOB).spec, validate_job(job(dataset="s3://bucket/x", seed=7, backend={"type": "ray"})).spec
    assert old is not None
    assert new is not None
    assert changed(old, new) == ("dataset", "backend", "seed")
    assert changed(old, old) == ()
    assert fixed_digest(old) == validate_job(JOB).digest


def test_only_a_whole_resource_gets_notes_about_clusters():
    local = job(output=None, dataset="data.csv")
    assert [note.split(": ")[:2] for note in cluster.notes(validate_document(local, "job.yaml"))] == [
        ["on a cluster", "dataset"],
        ["on a cluster", "output"],
    ]
    assert cluster.notes(validate_document(local["spec"], "job.yaml")) == ()


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("Reg:Foo Bar", ""),
        ("https://registry.example.com/ml/mine:1", ": write it without the scheme"),
        ("registry.example.com/ML/mine:1", ": its path is in lower case"),
        ("mine:", ""),
        ("mine@sha256:00", ""),
    ],
)
def test_a_name_that_no_image_can_have_is_refused(name, hint):
    expected = "expected the name of an image, as in registry.example.com/ml/trainwright:0.1.0"
    assert message(image=name) == f"late: image: {expected}, found {name!r}{hint}"
    template = {"head": {"initContainers": [{"name": "first", "image": name}]}}
    assert message(podTemplate=template).startswith("late: podTemplate.head.initContainers[0].image: expected the name")


@pytest.mark.parametrize(
    "name",
    [
        "mine",
        "mine:V1.2_3",
        "localhost:5000/a__b/c-d:1",
        "[::1]:5000/mine",
        f"Registry.example.com/mine@sha256:{'0a' * 32}",
    ],
)
def test_a_name_of_an_image_is_accepted(name):
    assert message(image=name) == ""
