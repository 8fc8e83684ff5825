from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from trainwright_operator.controller.health import Vitals

from ..fake_time import START, FakeTime


def test_a_process_that_waits_for_the_lease_needs_no_events() -> None:
    lease: Any = SimpleNamespace(holds=False)
    vitals = Vitals(lease, FakeTime().now)
    assert (vitals.leading, vitals.silences) == (False, {})


def test_the_leader_tells_how_long_it_has_heard_nothing() -> None:
    lease: Any = SimpleNamespace(holds=True)
    time = FakeTime()
    vitals = Vitals(lease, time.now)
    view: Any = SimpleNamespace(last_seen=lambda: START)
    vitals.view = view
    time.passed = 90
    assert (vitals.leading, vitals.silences) == (True, {"the watches": 90.0})
