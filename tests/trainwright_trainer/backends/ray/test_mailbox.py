"""The mailbox between workers and driver, without Ray: order, replies, stops. test_fit.py tests it on Ray."""

from __future__ import annotations

import asyncio

import pytest

from trainwright_trainer.backends.ray import mailbox as module
from trainwright_trainer.backends.ray.mailbox import Mailbox
from trainwright_trainer.backends.ray.messages import ControlState, Message


def test_messages_come_in_their_order_and_once():
    async def scenario():
        mailbox = Mailbox()
        await mailbox.post([Message("log", ("a",)), Message("log", ("b",))])
        await mailbox.post([Message("event", "c")])
        first = [message.content for message in await mailbox.take()]
        await mailbox.post([Message("log", ("d",))])
        return first, [message.content for message in await mailbox.take()]

    assert asyncio.run(scenario()) == ([("a",), ("b",), "c"], [("d",)])


def test_who_asks_waits_for_the_answer_to_its_own_question():
    async def scenario():
        mailbox = Mailbox()
        asked = [asyncio.create_task(mailbox.ask("ready", content)) for content in ("x", "y")]
        await asyncio.sleep(0)
        for message in reversed(await mailbox.take()):
            await mailbox.answer(message.number, message.content * 2)
        return await asyncio.gather(*asked)

    assert asyncio.run(scenario()) == ["xx", "yy"]


def test_every_post_receives_the_control_state_of_the_driver():
    async def scenario():
        mailbox = Mailbox()
        answers = [await mailbox.post([])]
        for _ in range(2):
            await mailbox.save()
        answers.append(await mailbox.post([]))
        await mailbox.stop("SIGTERM")
        return [*answers, await mailbox.post([])]

    assert asyncio.run(scenario()) == [ControlState(), ControlState(saves=2), ControlState("SIGTERM", 2)]


def test_the_end_is_known_before_it_is_taken():
    async def scenario():
        mailbox = Mailbox()
        before = await mailbox.ended()
        await mailbox.post([Message("ended", (0, None))])
        return before, await mailbox.ended()

    assert asyncio.run(scenario()) == (False, True)


def test_the_controller_is_waited_for_while_it_starts():
    async def scenario():
        mailbox = Mailbox()
        asked = asyncio.create_task(mailbox.controller())
        await asyncio.sleep(0)
        await mailbox.controller_started("its handle")
        return await asked

    assert asyncio.run(scenario()) == "its handle"


def test_a_controller_that_does_not_start_is_given_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_SECONDS_TO_START", 0.01)
    assert asyncio.run(Mailbox().controller()) is None
