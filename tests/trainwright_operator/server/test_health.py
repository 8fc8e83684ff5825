"""The probes, on the same port as all other paths."""

from __future__ import annotations

import pytest


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
