"""Events are read as the API server writes them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from testkit.cluster import audit

pytestmark = pytest.mark.slow  # it tests the testkit, which every other test uses

WRITTEN = {
    "stage": "ResponseComplete",
    "requestURI": "/apis/trainwright.dev/v1alpha1/namespaces/team/trainingjobs/job/status",
    "verb": "patch",
    "user": {"username": "operator", "groups": ["system:authenticated"]},
    "userAgent": "client/1",
    "objectRef": {
        "resource": "trainingjobs",
        "namespace": "team",
        "name": "job",
        "apiGroup": "trainwright.dev",
        "subresource": "status",
    },
    "responseStatus": {"code": 409},
    "stageTimestamp": "2026-01-01T00:00:00.000000Z",
    "annotations": {"authorization.k8s.io/decision": "allow"},
}


def test_an_event_says_who_did_what_to_whom(tmp_path: Path) -> None:
    log = tmp_path / audit.LOG
    log.write_text(json.dumps(WRITTEN) + "\n")
    (event,) = audit.read(log)
    assert (event.user, event.verb, event.api_group, event.resource, event.subresource) == (
        "operator",
        "patch",
        "trainwright.dev",
        "trainingjobs",
        "status",
    )
    assert (event.namespace, event.name, event.code, event.decision) == ("team", "job", 409, "allow")


def test_a_request_for_no_object_has_no_resource(tmp_path: Path) -> None:
    log = tmp_path / audit.LOG
    log.write_text(json.dumps({key: value for key, value in WRITTEN.items() if key != "objectRef"}) + "\n")
    assert [event.resource for event in audit.read(log)] == [""]


def test_a_line_that_is_half_written_is_left(tmp_path: Path) -> None:
    log = tmp_path / audit.LOG
    line = json.dumps(WRITTEN)
    log.write_text(f"{line}\n{line[:40]}")
    assert len(list(audit.read(log))) == 1


def test_no_log_is_no_events(tmp_path: Path) -> None:
    assert list(audit.read(tmp_path / audit.LOG)) == []
