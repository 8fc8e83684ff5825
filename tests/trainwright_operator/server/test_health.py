"""The probes, on the same port as all other paths."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from trainwright_operator.server.health import ProcessHealth

from ..fake_time import START, FakeTime


def get(path):
    async def conversation(session):
        async with session.get(path) as response:
            return response.status, await response.text()

    return conversation


@pytest.mark.parametrize(
    ("leading", "silences", "answer"),
    [
        (True, {}, (200, "ok\n")),
        (True, {"trainingjobs": 899.0}, (200, "ok\n")),
        (
            True,
            {"pods": 1.0, "trainingjobs": 901.0},
            (503, "trainingjobs: no response from the API server for 901 s\n"),
        ),
        (False, {"trainingjobs": 901.0}, (200, "ok\n")),
    ],
)
def test_a_leader_lives_while_it_hears_from_the_api_server(talk, place, leading, silences, answer):
    place.source.leading, place.source.silences = leading, silences
    assert talk(get("/healthz")) == answer


def test_a_server_is_ready_while_its_certificate_is_valid(talk, clock):
    async def conversation(session):
        first = await get("/readyz")(session)
        clock.pass_by(days=100)
        return first, await get("/readyz")(session)

    assert talk(conversation) == ((200, "ok\n"), (503, "there is no valid certificate\n"))


def test_a_process_that_waits_for_the_lease_needs_no_events() -> None:
    lease: Any = SimpleNamespace(holds=False)
    health = ProcessHealth(lease, FakeTime().now)
    assert (health.leading, health.silences) == (False, {})


def test_the_leader_shows_how_long_it_had_no_response() -> None:
    lease: Any = SimpleNamespace(holds=True)
    time = FakeTime()
    health = ProcessHealth(lease, time.now)
    view: Any = SimpleNamespace(last_seen=lambda: START)
    health.view = view
    time.passed = 90
    assert (health.leading, health.silences) == (True, {"the watches": 90.0})
