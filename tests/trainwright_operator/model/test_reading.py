from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trainwright_operator.children import read_child, read_pod
from trainwright_operator.model.reading import time

from ..children.child_specs import UID

RUBBISH = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
TIMES = st.sampled_from(["2026-11-21T12:00:00Z", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "soon", 7, None])
WORDS = st.sampled_from(["", "Running", "Complete", "Failed", "SUCCEEDED", "True", "trainer", "Suspended"])
CONDITIONS = st.lists(
    st.dictionaries(st.sampled_from(["type", "status", "reason", "lastTransitionTime"]), WORDS | TIMES | RUBBISH)
    | RUBBISH,
    max_size=3,
)
STATES = st.dictionaries(
    st.sampled_from(["waiting", "running", "terminated"]),
    st.dictionaries(st.sampled_from(["exitCode", "reason", "message", "startedAt"]), WORDS | TIMES | RUBBISH) | RUBBISH,
)
CONTAINERS = st.lists(st.fixed_dictionaries({"name": WORDS | RUBBISH, "state": STATES | RUBBISH}) | RUBBISH, max_size=2)
STATUS = st.fixed_dictionaries(
    {},
    optional={
        "conditions": CONDITIONS | RUBBISH,
        "containerStatuses": CONTAINERS | RUBBISH,
        "initContainerStatuses": CONTAINERS | RUBBISH,
        "jobStatus": WORDS | RUBBISH,
        "jobDeploymentStatus": WORDS | RUBBISH,
        "message": WORDS | RUBBISH,
        "reason": WORDS | RUBBISH,
        "phase": WORDS | RUBBISH,
        "ready": RUBBISH,
        "startTime": TIMES | RUBBISH,
        "endTime": TIMES | RUBBISH,
        "rayJobInfo": RUBBISH,
    },
)
METADATA = st.fixed_dictionaries(
    {
        "name": st.just("flights-1c9e2f7a-1-train") | RUBBISH,
        "labels": st.just({"trainwright.dev/job-uid": UID, "trainwright.dev/attempt": "1"}) | RUBBISH,
        "ownerReferences": st.just(
            [{"apiVersion": "trainwright.dev/v1", "kind": "TrainingJob", "uid": UID, "controller": True}]
        )
        | RUBBISH,
    },
    optional={"creationTimestamp": TIMES | RUBBISH, "deletionTimestamp": TIMES | RUBBISH, "uid": RUBBISH},
)
OBJECTS = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.sampled_from(["Job", "RayJob", "Pod"]) | RUBBISH,
        "metadata": METADATA | RUBBISH,
        "spec": RUBBISH,
        "status": STATUS | RUBBISH,
    },
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(OBJECTS | RUBBISH)
def test_nothing_that_others_write_raises(raw: Any) -> None:
    child, pod = read_child(raw), read_pod(raw)
    assert child is None or child.state in ("pending", "running", "suspended", "succeeded", "failed")
    assert pod is None or pod.job_uid


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2026-11-21T12:00:00Z", datetime(2026, 11, 21, 12, tzinfo=UTC)),
        ("2026-11-21T12:00:00.123456Z", datetime(2026, 11, 21, 12, 0, 0, 123456, tzinfo=UTC)),
        ("2026-11-21T14:00:00+02:00", datetime(2026, 11, 21, 12, tzinfo=UTC)),
        ("0001-01-01T00:00:00Z", None),
        ("9999-12-31T23:59:59-14:00", None),
        (None, None),
        (1, None),
        ("soon", None),
    ],
)
def test_times_are_in_utc_and_gos_zero_is_none(written: Any, read: datetime | None) -> None:
    assert time(written) == read
