from __future__ import annotations

import pytest

from trainwright_api.resource.environment import CONTRACT_VERSION
from trainwright_operator.children.pods import GRACE_SECONDS
from trainwright_operator.settings import Settings

from .child_specs import BACKENDS, UID, child_spec, env, sized, templates, trainers

DRAIN = "RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S"


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_training_program_gets_attempt_it_is(backend: str) -> None:
    made = child_spec(backend, attempt=3, stage="evaluate", resolved=sized(5, per_pod=2))
    for template in trainers(made).values():
        variables = env(template)
        assert variables["TRAINWRIGHT_ATTEMPT"] == "3"
        assert variables["TRAINWRIGHT_UID"] == UID
        assert variables["TRAINWRIGHT_STAGE"] == "evaluate"
        assert variables["TRAINWRIGHT_CONTRACT"] == str(CONTRACT_VERSION)
        assert variables["TRAINWRIGHT_RUN"] == f"s3://runs/teams/flights-{UID[:8]}"
        assert (variables["TRAINWRIGHT_WORKERS"], variables["TRAINWRIGHT_WORKERS_PER_POD"]) == ("5", "2")
        assert variables["TRAINWRIGHT_PROGRESS_URL"] == "https://trainwright.ops:9443/v1/namespaces/teams/jobs/flights"
        assert variables["TRAINWRIGHT_TOKEN_FILE"] == "/var/run/secrets/trainwright/token"
        assert variables["TRAINWRIGHT_CA"] == "/var/run/secrets/trainwright/ca.crt"


def test_the_version_of_ray_is_reported_where_ray_runs() -> None:
    for template in trainers(child_spec("ray", rayVersion="2.56.1")).values():
        assert env(template)["TRAINWRIGHT_RAY_VERSION"] == "2.56.1"
    assert env(templates(child_spec("ray"))["head"])["TRAINWRIGHT_RAY_VERSION"] == "2.60.0"
    assert "TRAINWRIGHT_RAY_VERSION" not in env(templates(child_spec())["trainer"])


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_pod_has_a_home_that_it_may_write_to(backend: str) -> None:
    assert {env(template)["HOME"] for template in templates(child_spec(backend)).values()} == {"/tmp"}


def test_where_nobody_listens_nothing_is_reported_of_it() -> None:
    variables = env(templates(child_spec(settings=Settings(progress_url="")))["trainer"])
    assert not {"TRAINWRIGHT_PROGRESS_URL", "TRAINWRIGHT_TOKEN_FILE", "TRAINWRIGHT_CA"} & set(variables)


def test_without_a_certificate_authority_the_images_own_are_trusted() -> None:
    variables = env(templates(child_spec(ca=""))["trainer"])
    assert "TRAINWRIGHT_PROGRESS_URL" in variables
    assert "TRAINWRIGHT_CA" not in variables


def test_rays_head_outlives_its_workers_and_the_grace_period_both() -> None:
    made = templates(child_spec("ray"))
    head, worker = int(env(made["head"])[DRAIN]), int(env(made["worker"])[DRAIN])
    assert worker < head < GRACE_SECONDS
    assert made["head"]["spec"]["terminationGracePeriodSeconds"] == GRACE_SECONDS


def test_only_gangs_have_a_place_to_meet() -> None:
    for backend in ("local", "ray"):
        for template in templates(child_spec(backend)).values():
            assert not any(name.startswith("TRAINWRIGHT_MASTER") for name in env(template))


HIDES = "NVIDIA_VISIBLE_DEVICES"
CLAIM = {"resourceClaims": [{"name": "gpus", "resourceClaimName": "all"}], "resources": {"claims": [{"name": "gpus"}]}}


def test_an_image_that_asks_for_all_gpus_shows_them_to_no_pod_without_one() -> None:
    made = templates(child_spec("ray", resolved=sized(2, gpus=2)))
    assert {role: env(template).get(HIDES) for role, template in made.items()} == {
        "submitter": "void",
        "head": "void",
        "worker": None,
    }
    assert env(templates(child_spec("horovod"))["trainer"])[HIDES] == "void"
    assert env(templates(child_spec("ray"))["worker"])[HIDES] == "void"


def test_gpus_of_a_claim_and_those_that_a_job_shows_itself_stay_visible() -> None:
    assert HIDES not in env(templates(child_spec("local", podTemplate=CLAIM))["trainer"])
    shown = {"env": [{"name": HIDES, "value": "all"}]}
    assert env(templates(child_spec("local", podTemplate=shown))["trainer"])[HIDES] == "all"
