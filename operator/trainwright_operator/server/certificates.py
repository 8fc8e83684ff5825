"""The content of the operator's Secret `trainwright-tls`, and the renewal of each part. Pure decisions, no requests.

    ca.crt    every trusted CA, the oldest first; the oldest one that is valid for long enough signs
    ca.key    their keys, in the same order
    tls.crt   the server's certificate
    tls.key   its key

A server certificate is valid for 90 days by default, a CA forty times as long. A pod gets the CAs when it starts, and
may train for weeks. So a new CA is published long before it signs: it is added after two thirds of the lifetime of the
newest CA, and signs once the older CA would expire before the certificate to be signed.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Self

from cryptography import x509

from trainwright_operator.server.ca import Pair, new_authority, new_server

AUTHORITY_LIVES = 40
"""The lifetime of a CA, in lifetimes of a server certificate."""
SPENT = 2 / 3
"""The part of its lifetime after which a certificate is renewed."""

_CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----\n?", re.DOTALL)
_KEY = re.compile(rb"-----BEGIN PRIVATE KEY-----.+?-----END PRIVATE KEY-----\n?", re.DOTALL)


@dataclass(frozen=True)
class Certificates:
    """The CAs and the server certificate that one of them has signed."""

    authorities: tuple[Pair, ...]
    server: Pair

    @classmethod
    def read(cls, data: Mapping[str, str]) -> Self:
        """Read the `data` of a Secret. Raises ValueError for unusable data."""
        try:
            content = {key: base64.b64decode(data[key]) for key in ("ca.crt", "ca.key", "tls.crt", "tls.key")}
        except KeyError as error:
            raise ValueError(f"{error.args[0]} is missing") from None
        pairs = zip(_CERTIFICATE.findall(content["ca.crt"]), _KEY.findall(content["ca.key"]), strict=True)
        return cls(tuple(Pair.read(*pair) for pair in pairs), Pair.read(content["tls.crt"], content["tls.key"]))

    @property
    def bundle(self) -> bytes:
        """All CAs that a client has to trust, as PEM."""
        return b"".join(ca.certificate_pem for ca in self.authorities)

    @property
    def chain(self) -> bytes:
        """What the server shows to its clients, as PEM: a CA signs its certificate itself."""
        return self.server.certificate_pem

    @property
    def data(self) -> dict[str, str]:
        """The certificates as the `data` of a Secret."""
        content = {
            "ca.crt": self.bundle,
            "ca.key": b"".join(ca.key_pem for ca in self.authorities),
            "tls.crt": self.chain,
            "tls.key": self.server.key_pem,
        }
        return {key: base64.b64encode(value).decode() for key, value in content.items()}


@dataclass(frozen=True)
class Issued:
    """A server certificate that another controller, such as cert-manager, issues and renews in the Secret."""

    server: Pair
    bundle: bytes
    """The CAs that a client has to trust, as PEM."""
    chain: bytes
    """The server's certificate and those between it and a CA, as PEM."""

    @classmethod
    def read(cls, data: Mapping[str, str]) -> Self:
        """Read the `data` of a Secret. Raises ValueError for unusable data."""
        try:
            content = {key: base64.b64decode(data[key]) for key in ("ca.crt", "tls.crt", "tls.key")}
        except KeyError as error:
            raise ValueError(f"{error.args[0]} is missing") from None
        server = Pair.read(content["tls.crt"], content["tls.key"])
        return cls(server, content["ca.crt"], content["tls.crt"])


def needs_renewal(certificate: x509.Certificate, now: datetime) -> bool:
    """True if two thirds of the certificate's lifetime are over."""
    begin, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    return now >= begin + (end - begin) * SPENT


def renewed(found: Certificates | None, names: Sequence[str], now: datetime, life: timedelta) -> Certificates | None:
    """Return the certificates that replace `found` for a server with these names, or None if `found` is still good."""
    authorities = _authorities(found.authorities if found else (), now, life)
    server = found.server if found else None
    if server is None or not _serves(server, authorities, names, now):
        server = new_server(_signer(authorities, now + life), names, now, life)
    wanted = Certificates(authorities, server)
    return None if wanted == found else wanted


def _authorities(found: tuple[Pair, ...], now: datetime, life: timedelta) -> tuple[Pair, ...]:
    alive = tuple(pair for pair in found if pair.certificate.not_valid_after_utc > now)
    if alive and not needs_renewal(alive[-1].certificate, now):
        return alive
    return (*alive, new_authority(now, life * AUTHORITY_LIVES))


def _signer(authorities: tuple[Pair, ...], until: datetime) -> Pair:
    """Return the oldest CA that is valid at `until`, else the newest CA."""
    lasting = [pair for pair in authorities if pair.certificate.not_valid_after_utc >= until]
    return (lasting or authorities[-1:])[0]


def _serves(server: Pair, authorities: tuple[Pair, ...], names: Sequence[str], now: datetime) -> bool:
    trusted = any(server.signed_by(ca) for ca in authorities)
    return trusted and set(server.names) == set(names) and not needs_renewal(server.certificate, now)
