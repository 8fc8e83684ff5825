from __future__ import annotations

import asyncio
import json
import logging
import socket
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from aiohttp import web

from trainwright_operator.kube.resources import LEASES, PODS
from trainwright_operator.main import main, open_clients
from trainwright_operator.server.metrics import Metrics
from trainwright_operator.settings import Settings

from .api_server import api_server

KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: here
contexts: [{name: here, context: {cluster: here, user: me}}]
clusters: [{name: here, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: me, user: {}}]
"""


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    root.handlers[:] = []
    yield
    root.handlers[:] = before
    root.setLevel(level)
    logging.captureWarnings(False)


def test_the_lease_is_reached_while_all_other_requests_wait(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with api_server() as server, AsyncExitStack() as stack:
            (tmp_path / "config").write_text(KUBECONFIG.replace("http://127.0.0.1:1", server.url))
            clients = await open_clients(stack, Settings(), Metrics())
            arrived = asyncio.Semaphore(0)

            async def hangs(request: web.Request) -> web.StreamResponse:  # noqa: ARG001
                arrived.release()
                await server.closing.wait()
                raise web.HTTPServiceUnavailable

            server.answers += [hangs] * 80
            busy = [clients.passes] * 70 + [clients.posts] * 20
            waiting = [asyncio.create_task(one.get(PODS, "team", "a")) for one in busy]
            for _ in range(80):
                await arrived.acquire()
            assert await clients.lease.get(LEASES, "team", "a")
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    asyncio.run(scenario())


def complaint(capsys: pytest.CaptureFixture[str]) -> str:
    """Return the only line that was logged."""
    [line] = capsys.readouterr().err.splitlines()
    message = json.loads(line)["message"]
    assert isinstance(message, str)
    return message


def test_a_setting_that_is_none_is_reported_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main({"TRAINWRIGHT_WORKERS_MAX": "8", "TRAINWRIGHT_RESYNC": "often"}) == 2
    assert complaint(capsys).startswith("the settings cannot be used: TRAINWRIGHT_WORKERS_MAX: no such setting")


@pytest.mark.parametrize("content", [None, "a: [b", "- 1", "{}", KUBECONFIG.replace("cluster: here", "cluster: there")])
def test_a_kubeconfig_that_cannot_be_used_is_reported_in_one_line(
    content: str | None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / "config").write_text(content)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    assert main({}) == 2
    assert complaint(capsys).startswith("there is no way to an API server: ")


def test_a_port_that_is_taken_is_reported_in_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "config").write_text(KUBECONFIG)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
    with socket.create_server(("", 0)) as taken:
        assert main({"TRAINWRIGHT_SERVER_PORT": str(taken.getsockname()[1])}) == 2
    assert complaint(capsys).startswith("nothing can be served on port ")
