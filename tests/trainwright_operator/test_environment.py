from __future__ import annotations

import re
from dataclasses import fields

import pytest

from trainwright_operator.job_defaults import JobDefaults
from trainwright_operator.policy import Policy
from trainwright_operator.settings import Backoff, Settings


def test_nothing_set_gives_the_defaults() -> None:
    assert Settings.from_environment({}) == Settings()


def test_every_kind_of_field_is_read() -> None:
    settings = Settings.from_environment(
        {
            "TRAINWRIGHT_IMAGE": "registry/trainer:2",
            "TRAINWRIGHT_MAX_WORKERS": "8",
            "TRAINWRIGHT_RESYNC": " 0.5 ",
            "TRAINWRIGHT_NAMESPACES": "a, b,",
            "TRAINWRIGHT_BACKOFF_BASE": "0.1",
            "TRAINWRIGHT_POLICY_INLINE_KEYS": "true",
            "TRAINWRIGHT_JOBS_POD_TEMPLATE": '{"tolerations": [{"key": "gpu"}]}',
            "TRAINWRIGHT_JOBS_TTL_SECONDS_AFTER_FINISHED": "60",
            "PATH": "/bin",
        }
    )
    assert settings == Settings(
        image="registry/trainer:2",
        max_workers=8,
        resync=0.5,
        namespaces=("a", "b"),
        backoff=Backoff(base=0.1),
        policy=Policy(inline_keys=True),
        jobs=JobDefaults(pod_template={"tolerations": [{"key": "gpu"}]}, ttl_seconds_after_finished=60),
    )
    none = Settings.from_environment({"TRAINWRIGHT_JOBS_TTL_SECONDS_AFTER_FINISHED": ""})
    assert none.jobs.ttl_seconds_after_finished is None


def test_every_field_has_a_name() -> None:
    """A field of a new type needs its own reader."""
    for field in fields(Settings):
        if field.name not in ("backoff", "resize", "policy", "jobs", "namespaces", "own_certificates"):
            value = getattr(Settings(), field.name)
            assert Settings.from_environment({f"TRAINWRIGHT_{field.name.upper()}": str(value)}) == Settings()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "TRAINWRIGHT_MAX_WORKER",
            "8",
            "TRAINWRIGHT_MAX_WORKER: no such setting, did you mean TRAINWRIGHT_MAX_WORKERS?",
        ),
        ("TRAINWRIGHT_RESIZE_WINDOW", "0", "resize window is 0: it has to be more"),
        ("TRAINWRIGHT_BACKOFF_BAES", "8", "did you mean TRAINWRIGHT_BACKOFF_BASE?"),
        ("TRAINWRIGHT_SERVR_PORT", "80", "did you mean TRAINWRIGHT_SERVER_PORT?"),
        ("TRAINWRIGHT_ZZZZZZ", "8", "TRAINWRIGHT_ZZZZZZ: no such setting"),
        ("TRAINWRIGHT_MAX_WORKERS", "many", "expected a whole number that is not negative, found 'many'"),
        ("TRAINWRIGHT_MAX_WORKERS", "-1", "expected a whole number that is not negative, found '-1'"),
        ("TRAINWRIGHT_MAX_WORKERS", "0", "max_workers is 0: it has to be more"),
        ("TRAINWRIGHT_STALE_AFTER", "0", "stale_after is 0: it has to be more"),
        ("TRAINWRIGHT_STALE_AFTER", "300", "stale_after is 300 s: it has to be more than watch_timeout (300 s)"),
        ("TRAINWRIGHT_RESYNC", "10m", "TRAINWRIGHT_RESYNC: expected a number that is not negative, found '10m'"),
        ("TRAINWRIGHT_RESYNC", "nan", "expected a number that is not negative"),
        ("TRAINWRIGHT_RESYNC", "inf", "expected a number that is not negative"),
        ("TRAINWRIGHT_LEASE_RENEW", "8", "lease_renew is 8 s: it has to be more than 0 and less than two thirds"),
        ("TRAINWRIGHT_BACKOFF_JITTER", "1", "backoff jitter is 1: it is a share, less than 1"),
        ("TRAINWRIGHT_POLICY_INLINE_KEYS", "yes", "expected true or false, found 'yes'"),
        ("TRAINWRIGHT_POLICY_HOST_SETTINGS", "hostPID", "policy host_settings: 'hostPID' is none of hostNetwork"),
        ("TRAINWRIGHT_JOBS_POD_TEMPLATE", "[]", "TRAINWRIGHT_JOBS_POD_TEMPLATE: expected a JSON object, found '[]'"),
        ("TRAINWRIGHT_JOBS_POD_TEMPLATE", '{"nodeSelectr": {}}', "jobs pod_template: nodeSelectr: unknown"),
        ("TRAINWRIGHT_NAMESPACES", "team-a, Team_B", "namespaces has 'Team_B': a namespace has lowercase letters"),
        ("TRAINWRIGHT_SERVER_PORT", "70000", "server_port is 70000: ports end at 65535"),
        ("TRAINWRIGHT_RAY_VERSION", "2.51.9", "ray_version is 2.51.9: it has to be three numbers, 2.52.0 or later"),
        ("TRAINWRIGHT_RAY_VERSION", "latest", "ray_version is latest: it has to be three numbers, 2.52.0 or later"),
    ],
)
def test_a_mistake_is_named(name: str, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        Settings.from_environment({name: text})


def test_all_mistakes_come_at_once_in_one_line() -> None:
    with pytest.raises(ValueError, match=r"^TRAINWRIGHT_RESYNC: .*; TRAINWRIGHT_OTHER_THING: [^\n]*$"):
        Settings.from_environment({"TRAINWRIGHT_RESYNC": "x", "TRAINWRIGHT_OTHER_THING": "y"})


def test_what_kubernetes_adds_for_a_service_of_our_name_is_no_mistake() -> None:
    links = {
        "TRAINWRIGHT_PORT": "tcp://10.96.0.7:443",
        "TRAINWRIGHT_SERVICE_HOST": "10.96.0.7",
        "TRAINWRIGHT_SERVICE_PORT": "443",
        "TRAINWRIGHT_SERVICE_PORT_HTTPS": "443",
        "TRAINWRIGHT_PORT_443_TCP": "tcp://10.96.0.7:443",
        "TRAINWRIGHT_PORT_443_TCP_ADDR": "10.96.0.7",
    }
    assert Settings.from_environment(links) == Settings()
