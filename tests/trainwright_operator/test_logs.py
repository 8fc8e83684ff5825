from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from trainwright_operator import logs


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    """The stream of the logs. The previous logging setup is restored afterwards."""
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    stream = io.StringIO()
    # `force` closes the handlers that it finds, and these belong to pytest.
    root.handlers[:] = []
    logs.configure(stream)
    yield stream
    root.handlers[:] = before
    root.setLevel(level)
    logging.captureWarnings(False)


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_is_one_object(stream: io.StringIO) -> None:
    logging.getLogger("trainwright").info("two\nlines of %s", "text")
    [line] = lines(stream)
    assert (line["level"], line["message"], line["logger"]) == ("info", "two\nlines of text", "trainwright")
    assert line["time"].endswith("+00:00")
    assert "job" not in line


def test_it_names_the_job_and_the_attempt(stream: io.StringIO) -> None:
    log = logging.getLogger("trainwright")
    with logs.about(("team", "flights"), 2):
        log.warning("inside")
    log.warning("outside")
    inside, outside = lines(stream)
    assert (inside["job"], inside["attempt"]) == ("team/flights", 2)
    assert "job" not in outside


def test_jobs_side_by_side_keep_their_names(stream: io.StringIO) -> None:
    async def one(name: str) -> None:
        with logs.about(("team", name)):
            await asyncio.sleep(0)
            logging.getLogger("trainwright").info(name)

    async def both() -> None:
        await asyncio.gather(one("a"), one("b"))

    asyncio.run(both())
    assert [(line["job"], line["message"]) for line in lines(stream)] == [("team/a", "a"), ("team/b", "b")]


def test_an_exception_stays_on_the_line(stream: io.StringIO) -> None:
    try:
        raise KeyError("lost")
    except KeyError:
        logging.getLogger("trainwright").exception("a pass failed")
    [line] = lines(stream)
    assert line["message"] == "a pass failed"
    assert "KeyError: 'lost'" in line["error"]


def test_kopfs_own_reference_to_an_object_is_the_job(stream: io.StringIO) -> None:
    reference = {"namespace": "team", "name": "flights", "uid": "1"}
    logging.getLogger("kopf.objects").warning("so so", extra={"k8s_ref": reference})
    assert lines(stream)[0]["job"] == "team/flights"


def test_chatter_of_libraries_is_left_out(stream: io.StringIO) -> None:
    logging.getLogger("kopf.objects").info("Handler 'x' succeeded.")
    logging.getLogger("aiohttp.access").info("GET /healthz")
    assert lines(stream) == []
