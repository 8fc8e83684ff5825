"""The address of a cluster and the credentials of its user, read from a kubeconfig."""

from __future__ import annotations

import base64
import ssl
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML


@dataclass(frozen=True)
class Credentials:
    server: str
    trust: ssl.SSLContext
    """Holds the client certificate too, if there is one."""
    headers: Mapping[str, str]


def read(kubeconfig: Path) -> Credentials:
    """Read the current context. Supports certificates and tokens, as files or inline; no exec plugins."""
    config = YAML(typ="safe").load(kubeconfig)
    context = _named(config["contexts"], config["current-context"])["context"]
    cluster = _named(config["clusters"], context["cluster"])["cluster"]
    user = _named(config["users"], context["user"])["user"]
    return Credentials(cluster["server"], _trust(cluster, user), _headers(user))


def _named(entries: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(entry for entry in entries if entry["name"] == name)


def _trust(cluster: Mapping[str, str], user: Mapping[str, str]) -> ssl.SSLContext:
    ca = _content(cluster, "certificate-authority")
    trust = ssl.create_default_context(cadata=ca.decode() if ca else None)
    certificate, key = _content(user, "client-certificate"), _content(user, "client-key")
    if certificate and key:
        # Python loads client certificates from files only.
        with tempfile.NamedTemporaryFile() as file:
            file.write(certificate + b"\n" + key)
            file.flush()
            trust.load_cert_chain(file.name)
    return trust


def _content(section: Mapping[str, str], name: str) -> bytes:
    if f"{name}-data" in section:
        return base64.b64decode(section[f"{name}-data"])
    return Path(section[name]).read_bytes() if name in section else b""


def _headers(user: Mapping[str, str]) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {user['token']}"} if "token" in user else {}
