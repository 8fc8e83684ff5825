from __future__ import annotations

import asyncio
import itertools

import kopf

from trainwright_operator.kopf_adapter import settings as kopf_settings
from trainwright_operator.kopf_adapter.settings import Pauses
from trainwright_operator.settings import Settings


def test_kopf_writes_nothing_and_needs_no_more_rights() -> None:
    settings = kopf.OperatorSettings()
    kopf_settings.configure(settings, Settings())
    assert (settings.posting.enabled, settings.scanning.disabled, settings.peering.standalone) == (False, True, True)


def test_kopf_never_kills_the_process() -> None:
    settings = kopf.OperatorSettings()
    kopf_settings.configure(settings, Settings())
    assert settings.process.ultimate_exiting_timeout is None


def test_kopf_waits_for_the_api_server_as_long_as_the_operator_does() -> None:
    settings = kopf.OperatorSettings()
    kopf_settings.configure(settings, Settings(request_timeout=3, watch_timeout=20, retry_base=0.1, retry_limit=7))
    assert settings.networking.request_timeout == 3
    assert (settings.watching.server_timeout, settings.watching.client_timeout) == (20, 23)
    pauses = iter(settings.networking.error_backoffs)  # type: ignore[arg-type]
    assert max(next(pauses) for _ in range(20)) == 7


def test_a_watch_of_less_than_a_second_is_asked_for_one() -> None:
    """For 0, the API server would choose a timeout itself."""
    settings = kopf.OperatorSettings()
    kopf_settings.configure(settings, Settings(watch_timeout=0.2))
    assert settings.watching.server_timeout == 1


def test_kopf_remembers_no_object() -> None:
    async def scenario() -> None:
        memories = kopf_settings.NoMemories()
        await memories.recall({"metadata": {"uid": "a"}}, noticed_by_listing=True)
        assert list(memories.iter_all_memories()) == []

    asyncio.run(scenario())


def test_kopf_compares_nothing() -> None:
    nothing = kopf_settings.NoDiffs()
    assert (nothing.build(body={"spec": 1}), nothing.fetch(body={})) == ({}, None)


def test_they_double_up_to_a_limit_and_never_end() -> None:
    pauses = Pauses(0.5, 3)
    assert list(itertools.islice(pauses, 5)) == list(itertools.islice(pauses, 5)) == [0.5, 1, 2, 3, 3]
    assert list(itertools.islice(pauses, 5_000))[-1] == 3


def test_next_goes_on_until_reset() -> None:
    pauses = Pauses(1, 8)
    assert [pauses.next(), pauses.next(), pauses.next()] == [1, 2, 4]
    pauses.reset()
    assert pauses.next() == 1
