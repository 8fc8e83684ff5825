from __future__ import annotations

import asyncio
import json
import socket
import ssl
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from kubernetes.aio.client import Configuration
from kubernetes.aio.config import incluster_config
from kubernetes.aio.config.config_exception import ConfigException

from trainwright_operator.kube import connection as connection_module
from trainwright_operator.kube.client import Client, Unreachable
from trainwright_operator.kube.connection import Connection, keepalive_socket
from trainwright_operator.server.ca import Pair, new_authority, new_server

from ..api_server import ApiServer, api_server


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No kubeconfig, no cluster, and a proxy that does not answer."""
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")


def kubeconfig(folder: Path, server: str, user: str = "{token: secret}") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "config"
    file.write_text(
        "apiVersion: v1\nkind: Config\ncurrent-context: it\n"
        f"clusters: [{{name: it, cluster: {{server: '{server}'}}}}]\n"
        f"users: [{{name: me, user: {user}}}]\n"
        "contexts: [{name: it, context: {cluster: it, user: me}}]\n"
    )
    return file


def run_scenario(scenario: Callable[[ApiServer], Awaitable[None]]) -> None:
    async def whole() -> None:
        async with api_server() as server:
            await scenario(server)

    asyncio.run(whole())


async def header(server: ApiServer, connection: Connection) -> str | None:
    """Return the Authorization header of a request."""
    async with Client(connection) as client:
        await client.request("GET", "/version")
    return server.requests[-1].headers.get("Authorization")


def test_a_kubeconfig_says_where_and_who(tmp_path: Path) -> None:
    async def scenario(server: ApiServer) -> None:
        file = kubeconfig(tmp_path / "given", server.url)
        assert await header(server, await Connection.open(str(file))) == "Bearer secret"

    run_scenario(scenario)


def test_the_environment_names_a_kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(server: ApiServer) -> None:
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig(tmp_path / "named", server.url)))
        kubeconfig(tmp_path / ".kube", "http://127.0.0.1:9")
        assert await header(server, await Connection.open()) == "Bearer secret"

    run_scenario(scenario)


def test_else_it_is_the_one_at_home(tmp_path: Path) -> None:
    async def scenario(server: ApiServer) -> None:
        kubeconfig(tmp_path / ".kube", server.url)
        assert await header(server, await Connection.open()) == "Bearer secret"

    run_scenario(scenario)


def test_without_any_there_is_no_connection() -> None:
    with pytest.raises(ConfigException):
        asyncio.run(Connection.open())


def test_a_program_may_give_the_token(tmp_path: Path) -> None:
    async def scenario(server: ApiServer) -> None:
        version = "client.authentication.k8s.io/v1"
        made = {"apiVersion": version, "kind": "ExecCredential", "status": {"token": "made"}}
        program = {"apiVersion": version, "command": "echo", "args": [json.dumps(made)]}
        file = kubeconfig(tmp_path, server.url, json.dumps({"exec": program}))
        assert await header(server, await Connection.open(str(file))) == "Bearer made"

    run_scenario(scenario)


def test_in_a_pod_the_token_is_read_anew_and_the_api_server_has_to_prove_who_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, another = (new_authority(datetime.now(UTC), timedelta(days=1)) for _ in range(2))
    account = Account(tmp_path, monkeypatch)

    async def scenario() -> None:
        async with api_server(tls_of(ours, tmp_path)) as server:
            account.live_in(server, ours)
            connection = await Connection.open()
            async with Client(connection) as client:
                for token, later in (("first\n", 0), ("second", 0), ("second", 2)):
                    account.token.write_text(token)
                    account.minutes += later
                    await client.request("GET", "/version")
            sent = [request.headers["Authorization"] for request in server.requests]
            assert sent == ["bearer first", "bearer first", "bearer second"]
            account.live_in(server, another)
            async with Client(await Connection.open()) as stranger:
                with pytest.raises(Unreachable, match="certificate"):
                    await stranger.request("GET", "/version")

    asyncio.run(scenario())


def test_an_authority_that_does_not_say_what_its_key_is_for_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kubernetes' own clients trust such a CA. Python 3.13 would refuse it by default."""
    default = ssl.create_default_context

    def strict(*arguments: Any, **named: Any) -> ssl.SSLContext:
        context = default(*arguments, **named)
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        return context

    monkeypatch.setattr(ssl, "create_default_context", strict)
    ca = _without_key_usage(new_authority(datetime.now(UTC), timedelta(hours=1)))

    async def scenario() -> None:
        async with api_server(tls=tls_of(ca, tmp_path)) as server:
            Account(tmp_path, monkeypatch).live_in(server, ca)
            async with Client(await Connection.open()) as client:
                await client.request("GET", "/version")
            assert len(server.requests) == 1

    asyncio.run(scenario())


def test_the_kernel_looks_after_connections_that_are_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[socket.socket] = []

    def noted(address: Any) -> socket.socket:
        made.append(keepalive_socket(address))
        return made[-1]

    monkeypatch.setattr(connection_module, "keepalive_socket", noted)

    async def scenario(server: ApiServer) -> None:
        async with Client(Connection(Configuration(host=server.url))) as client:
            await client.request("GET", "/version")
            assert len(made) == 1
            assert made[0].getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
            for option, value in ((socket.TCP_KEEPIDLE, 30), (socket.TCP_KEEPINTVL, 10), (socket.TCP_KEEPCNT, 3)):
                assert made[0].getsockopt(socket.IPPROTO_TCP, option) == value

    run_scenario(scenario)


class Account:
    """A pod's service account: its files, its environment, and the clock for re-reading its token."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.token, self._ca, self._patch, self.minutes = folder / "token", folder / "ca.crt", monkeypatch, 0
        self.token.write_text("first\n")
        monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(self.token))
        monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(self._ca))
        monkeypatch.setattr(incluster_config, "datetime", SimpleNamespace(datetime=self, timedelta=timedelta))

    def now(self) -> datetime:
        return datetime(2026, 11, 1) + timedelta(minutes=self.minutes)

    def live_in(self, server: ApiServer, ca: Pair) -> None:
        self._ca.write_bytes(ca.certificate_pem)
        host, _, port = server.url.removeprefix("https://").partition(":")
        self._patch.setenv("KUBERNETES_SERVICE_HOST", host)
        self._patch.setenv("KUBERNETES_SERVICE_PORT", port)


def _without_key_usage(ca: Pair) -> Pair:
    """Return the same CA without the KeyUsage extension, signed again."""
    found = ca.certificate
    builder = (
        x509.CertificateBuilder()
        .subject_name(found.subject)
        .issuer_name(found.issuer)
        .public_key(ca.key.public_key())
        .serial_number(found.serial_number)
        .not_valid_before(found.not_valid_before_utc)
        .not_valid_after(found.not_valid_after_utc)
        .add_extension(x509.BasicConstraints(True, 0), critical=True)
    )
    return Pair(builder.sign(ca.key, hashes.SHA256()), ca.key)


def tls_of(ca: Pair, folder: Path) -> ssl.SSLContext:
    pair = new_server(ca, ["127.0.0.1"], datetime.now(UTC), timedelta(hours=1))
    file = folder / "server.pem"
    file.write_bytes(pair.certificate_pem + pair.key_pem)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(file)
    return context
