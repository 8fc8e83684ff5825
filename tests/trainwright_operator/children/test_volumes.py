from __future__ import annotations

import pytest

from trainwright_operator.settings import Settings

from .child_specs import BACKENDS, child_spec, container, mounts, support, templates, trainers

KEYS = {"cache_credentials": {"key": "x"}}


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_mount_has_its_volume_and_every_own_volume_is_mounted(backend: str) -> None:
    made = child_spec(backend, backend_keys=KEYS, credentials={"secretName": "keys"})
    for template in templates(made).values():
        volumes = [volume["name"] for volume in template["spec"]["volumes"]]
        assert sorted(mounts(template).values()) == sorted(volumes)


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_the_training_program_reads_is_mounted(backend: str) -> None:
    made = child_spec(backend, backend_keys=KEYS, credentials={"secretName": "keys"})
    for template in trainers(made).values():
        assert {
            "/etc/trainwright/job.yaml",
            "/etc/trainwright/credentials",
            "/etc/trainwright/cache-credentials",
            "/var/run/secrets/trainwright",
            "/tmp",
        } <= set(mounts(template))


def test_the_submitter_has_nothing_of_the_jobs() -> None:
    made = child_spec("ray", backend_keys=KEYS, credentials={"secretName": "keys"})
    submitter = templates(made)["submitter"]
    assert set(mounts(submitter)) == {"/tmp"}
    assert "envFrom" not in container(submitter)


def test_the_volumes_name_the_supports_that_are_built() -> None:
    made = child_spec(backend_keys=KEYS)
    volumes = {volume["name"]: volume for volume in templates(made)["trainer"]["spec"]["volumes"]}
    assert volumes["trainwright-job"]["configMap"]["name"] == support(made, "ConfigMap")["metadata"]["name"]
    assert (
        volumes["trainwright-cache-credentials"]["secret"]["secretName"] == support(made, "Secret")["metadata"]["name"]
    )


def test_the_token_is_for_the_operator_alone_and_short() -> None:
    volumes = {volume["name"]: volume for volume in templates(child_spec())["trainer"]["spec"]["volumes"]}
    token, ca = volumes["trainwright-token"]["projected"]["sources"]
    assert token == {"serviceAccountToken": {"audience": "trainwright", "expirationSeconds": 3600, "path": "token"}}
    assert ca["configMap"]["items"] == [{"key": "ca.crt", "path": "ca.crt"}]


def test_where_nobody_listens_there_is_no_token() -> None:
    template = templates(child_spec(settings=Settings(progress_url="")))["trainer"]
    assert "/var/run/secrets/trainwright" not in mounts(template)


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_trainer_has_shared_memory_of_its_memory_limit(backend: str) -> None:
    """KubeRay's own volume would be as small as the memory request; it leaves that out where /dev/shm is mounted."""
    for template in trainers(child_spec(backend)).values():
        name = mounts(template)["/dev/shm"]
        (volume,) = [volume for volume in template["spec"]["volumes"] if volume["name"] == name]
        assert volume["emptyDir"] == {"medium": "Memory"}
