from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from trainwright_operator.controller.health import ProcessHealth

from ..fake_time import START, FakeTime


def test_a_process_that_waits_for_the_lease_needs_no_events() -> None:
    lease: Any = SimpleNamespace(holds=False)
    health = ProcessHealth(lease, FakeTime().now)
    assert (health.leading, health.silences) == (False, {})


def test_the_leader_tells_how_long_it_has_heard_nothing() -> None:
    lease: Any = SimpleNamespace(holds=True)
    time = FakeTime()
    health = ProcessHealth(lease, time.now)
    view: Any = SimpleNamespace(last_seen=lambda: START)
    health.view = view
    time.passed = 90
    assert (health.leading, health.silences) == (True, {"the watches": 90.0})
