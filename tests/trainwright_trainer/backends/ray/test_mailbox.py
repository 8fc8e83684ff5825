"""The desk between workers and driver: order, answers, stops. Ray's part in it is tested where Ray runs."""

from __future__ import annotations

import asyncio

from trainwright_trainer.backends.ray.mailbox import Mailbox
from trainwright_trainer.backends.ray.messages import ControlState, Message


def test_letters_come_in_their_order_and_once():
    async def scene():
        desk = Mailbox()
        await desk.post([Message("said", ("a",)), Message("said", ("b",))])
        await desk.post([Message("heard", "c")])
        first = [letter.content for letter in await desk.take()]
        await desk.post([Message("said", ("d",))])
        return first, [letter.content for letter in await desk.take()]

    assert asyncio.run(scene()) == ([("a",), ("b",), "c"], [("d",)])


def test_who_asks_waits_for_the_answer_to_its_own_question():
    async def scene():
        desk = Mailbox()
        asked = [asyncio.create_task(desk.ask("ready", content)) for content in ("x", "y")]
        await asyncio.sleep(0)
        for letter in reversed(await desk.take()):
            await desk.answer(letter.number, letter.content * 2)
        return await asyncio.gather(*asked)

    assert asyncio.run(scene()) == ["xx", "yy"]


def test_the_drivers_wishes_are_told_to_whoever_posts():
    async def scene():
        desk = Mailbox()
        told = [await desk.post([])]
        for _ in range(2):
            await desk.save()
        told.append(await desk.post([]))
        await desk.stop("SIGTERM")
        return [*told, await desk.post([])]

    assert asyncio.run(scene()) == [ControlState(), ControlState(saves=2), ControlState("SIGTERM", 2)]


def test_the_end_is_known_before_it_is_taken():
    async def scene():
        desk = Mailbox()
        before = await desk.ended()
        await desk.post([Message("ended", (0, None))])
        return before, await desk.ended()

    assert asyncio.run(scene()) == (False, True)
