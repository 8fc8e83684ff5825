"""The operator's own CA and the server certificates that it signs: create, write as PEM, and read."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Self

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

CLOCK_SKEW = timedelta(hours=1)
"""The time by which `notBefore` may lie in the past: the clocks of other machines may be late."""


@dataclass(frozen=True)
class Pair:
    """A certificate and its private key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey = field(compare=False, repr=False)

    @classmethod
    def read(cls, certificate: bytes, key: bytes) -> Self:
        """Read a pair from PEM. Raises ValueError for invalid PEM, or if the key is not the certificate's."""
        private = serialization.load_pem_private_key(key, None)
        read = x509.load_pem_x509_certificate(certificate)
        if not isinstance(private, ec.EllipticCurvePrivateKey) or private.public_key() != read.public_key():
            raise ValueError("the key is not the certificate's")
        return cls(read, private)

    @property
    def certificate_pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    @property
    def key_pem(self) -> bytes:
        form = serialization.PrivateFormat.PKCS8
        return self.key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())

    @property
    def names(self) -> tuple[str, ...]:
        """The subject alternative names: the DNS names and addresses of the certificate."""
        try:
            found = self.certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        except x509.ExtensionNotFound:
            return ()
        return tuple(str(name.value) for name in found)

    def signed_by(self, ca: Pair) -> bool:
        try:
            self.certificate.verify_directly_issued_by(ca.certificate)
        except (ValueError, TypeError, InvalidSignature):
            return False
        return True


def new_authority(now: datetime, life: timedelta) -> Pair:
    """Create a CA that signs only server certificates. Each CA has a unique name, because clients find it by name."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"trainwright {x509.random_serial_number():x}"[:60])])
    builder = _builder(now, life, name, name, key).add_extension(x509.BasicConstraints(True, 0), critical=True)
    builder = builder.add_extension(_usage(signs_certificates=True), critical=True)
    return Pair(builder.sign(key, hashes.SHA256()), key)


def new_server(ca: Pair, names: Sequence[str], now: datetime, life: timedelta) -> Pair:
    """Create a server certificate for these DNS names and addresses."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "trainwright")])
    alternatives = x509.SubjectAlternativeName([_general_name(name) for name in names])
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(ca.key.public_key())
    builder = (
        _builder(now, life, subject, ca.certificate.subject, key)
        .add_extension(x509.BasicConstraints(False, None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(alternatives, critical=False)
        .add_extension(issuer, critical=False)
    )
    return Pair(builder.sign(ca.key, hashes.SHA256()), key)


def _builder(
    now: datetime, life: timedelta, subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - min(CLOCK_SKEW, life / 100))
        .not_valid_after(now + life)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
