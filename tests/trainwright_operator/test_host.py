from __future__ import annotations

import asyncio
import itertools
import ssl
from types import SimpleNamespace
from typing import Any

import kopf
import pytest

from trainwright_operator import host


def credentials(header: str | None) -> kopf.ConnectionInfo:
    async def key(*_: Any, **__: Any) -> str | None:
        return header

    configuration = SimpleNamespace(
        host="https://server",
        ssl_ca_cert="/ca",
        ca_cert_data=None,
        verify_ssl=True,
        username="",
        password="",
        cert_file="/cert",
        key_file="/key",
        proxy=None,
        get_api_key_with_prefix=key,
    )
    connection: Any = SimpleNamespace(configuration=configuration)
    return asyncio.run(host._credentials(connection))


def test_kopf_writes_nothing_and_looks_at_nothing() -> None:
    settings = kopf.OperatorSettings()
    host._configure(settings)
    assert (settings.posting.enabled, settings.scanning.disabled, settings.peering.standalone) == (False, True, True)


def test_pauses_between_tries_never_end_and_begin_anew_each_time() -> None:
    pauses = host.Pauses()
    assert list(itertools.islice(pauses, 6)) == list(itertools.islice(pauses, 6)) == [0.5, 1, 2, 4, 8, 15]
    assert list(itertools.islice(pauses, 1000))[-1] == 15


def test_a_token_is_read_again_in_time() -> None:
    found = credentials("Bearer secret\n")
    assert (found.scheme, found.token) == ("Bearer", "secret")
    assert found.expiration is not None


def test_kopf_is_no_stricter_than_our_own_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if Python were 3.13 or later."""
    context = ssl.create_default_context()
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    monkeypatch.setattr(ssl, "create_default_context", lambda **_: context)
    monkeypatch.setattr(ssl.SSLContext, "load_cert_chain", lambda *_, **__: None)
    assert not credentials(None).as_ssl_context().verify_flags & ssl.VERIFY_X509_STRICT


def test_certificates_are_taken_as_they_are() -> None:
    found = credentials(None)
    assert (found.server, found.ca_path, found.insecure) == ("https://server", "/ca", False)
    assert (found.certificate_path, found.private_key_path) == ("/cert", "/key")
    assert (found.token, found.username, found.expiration) == (None, None, None)
