"""The certificates of a control plane, made by the openssl command: one CA signs servers and users."""

from __future__ import annotations

import secrets
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from testkit.cluster.errors import ClusterError

DAYS = 30
# Python 3.13 trusts no CA without a key usage.
AUTHORITY = ("basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign")
# Without its own configuration file, openssl adds that of the machine.
CONFIG = "[req]\ndistinguished_name=name\n[name]\n"


@dataclass(frozen=True)
class Certificate:
    """Two PEM files."""

    certificate: Path
    key: Path


class CertificateAuthority:
    """Signs certificates into a folder. Processes that share the folder are the same CA."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.own = Certificate(folder / "ca.crt", folder / "ca.key")

    @classmethod
    def new(cls, folder: Path) -> Self:
        folder.mkdir()
        (folder / "openssl.cnf").write_text(CONFIG)
        ca = cls(folder)
        ca._make("ca", "/CN=trainwright-tests", AUTHORITY, signed=False)
        return ca

    def server(self, name: str, hosts: Sequence[str]) -> Certificate:
        """A server certificate for hosts such as `DNS:localhost` and `IP:127.0.0.1`."""
        extensions = [f"subjectAltName={','.join(hosts)}", "extendedKeyUsage=serverAuth"]
        return self._make(name, f"/CN={name}", extensions)

    def user(self, name: str, groups: Sequence[str] = ()) -> Certificate:
        """A client certificate: Kubernetes reads the common name as the user and each organisation as a group."""
        subject = "".join(f"/O={group}" for group in groups) + f"/CN={name}"
        return self._make(f"user-{secrets.token_hex(4)}", subject, ["extendedKeyUsage=clientAuth"])

    def key_pair(self, name: str) -> Certificate:
        """Keys that sign and verify tokens; the certificate around the public key is unused."""
        return self._make(name, f"/CN={name}", [])

    def _make(self, name: str, subject: str, extensions: Sequence[str], signed: bool = True) -> Certificate:
        made = Certificate(self._folder / f"{name}.crt", self._folder / f"{name}.key")
        command = ["openssl", "req", "-x509", "-config", str(self._folder / "openssl.cnf"), "-days", str(DAYS)]
        command += ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", subject]
        command += ["-out", str(made.certificate), "-keyout", str(made.key)]
        command += [argument for extension in extensions for argument in ("-addext", extension)]
        if signed:
            command += ["-CA", str(self.own.certificate), "-CAkey", str(self.own.key)]
        _run(command)
        return made


def _run(command: Sequence[str]) -> None:
    try:
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise ClusterError("openssl is not installed: it makes the control plane's certificates") from None
    if ended.returncode != 0:
        raise ClusterError(f"openssl made no certificate: {ended.stderr.strip()}")
