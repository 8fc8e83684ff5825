"""kubectl, and the kubeconfig files that it and other clients read."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from testkit.cluster.certificates import Certificate
from testkit.cluster.errors import ClusterError


@dataclass(frozen=True)
class Kubectl:
    """`kubectl("get", "pods")` returns the output, or raises with the error output."""

    program: Path
    kubeconfig: Path
    memory: Path
    """The cache of API discovery. Other clusters reuse ports, so the user's own cache would be wrong."""

    @property
    def environment(self) -> Mapping[str, str]:
        """For a shell, or for a user's programs that call kubectl."""
        return {"KUBECONFIG": str(self.kubeconfig), "KUBECACHEDIR": str(self.memory), "KUBERC": "off"}

    def __call__(self, *arguments: str, stdin: str | None = None) -> str:
        ended = self.run(*arguments, stdin=stdin)
        if ended.returncode != 0:
            raise ClusterError(f"kubectl {' '.join(arguments)}: {ended.stderr.strip() or ended.stdout.strip()}")
        return ended.stdout

    def run(self, *arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        """The same, but returns the exit code and the warnings."""
        return subprocess.run(
            [str(self.program), *arguments],
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            check=False,
        )


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
