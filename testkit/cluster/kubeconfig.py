"""Kubeconfig files: the address of a cluster and the user's credentials."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from testkit.cluster.certificates import Certificate

NAME = "trainwright-tests"


def make(path: Path, server: str, ca: Path, user: Certificate) -> Path:
    """For a server whose certificate is signed by the CA in the file `ca`."""
    cluster = {"server": server, "certificate-authority": str(ca)}
    context = {"cluster": NAME, "user": NAME, "namespace": "default"}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": NAME,
        "clusters": [{"name": NAME, "cluster": cluster}],
        "contexts": [{"name": NAME, "context": context}],
        "users": [{"name": NAME, "user": with_certificate(user)}],
    }
    return write(path, config)


def with_certificate(user: Certificate) -> Mapping[str, str]:
    return {"client-certificate": str(user.certificate), "client-key": str(user.key)}


def with_user(path: Path, config: Mapping[str, Any], user: Mapping[str, str]) -> Path:
    """The same cluster with another user. `config` is the output of `kubectl config view --minify`: one user only."""
    name = config["users"][0]["name"]
    return write(path, {**config, "users": [{"name": name, "user": user}]})


def write(path: Path, config: Mapping[str, Any]) -> Path:
    """JSON is YAML too. Only the owner may read the credentials."""
    path.touch(mode=0o600)
    path.write_text(json.dumps(config, indent=2) + "\n")
    return path
