"""Rotates the server's certificates: the leader creates them and sets the webhook's `caBundle`; every pod loads them.

With cert-manager, every pod only loads them.

The certificates are stored only in the Secret. A live SSL context uses a new certificate for new connections; open
connections keep theirs.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import ssl
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from trainwright_operator.kube.client import JSON_PATCH, Client
from trainwright_operator.kube.errors import ApiError
from trainwright_operator.kube.resources import SECRETS, WEBHOOKS
from trainwright_operator.server.certificates import Certificates, Issued, renewed
from trainwright_operator.settings import Settings

SECRET_NAME = "trainwright-tls"
WEBHOOK_NAME = "trainwright"
SERVICE_NAME = "trainwright"
EVERY = 60.0
"""Seconds between two reads of the Secret."""
NOT_YET = 1.0
"""Seconds between two reads while the server has no valid certificate."""

Kind = TypeVar("Kind", Certificates, Issued)

log = logging.getLogger(__name__)


def server_names(settings: Settings) -> tuple[str, ...]:
    """Return the names under which the API server, pods and port-forwards reach the server."""
    service = f"{SERVICE_NAME}.{settings.namespace}"
    host = urlsplit(settings.progress_url).hostname
    names = [f"{service}.svc", f"{service}.svc.cluster.local", service, "localhost", "127.0.0.1", host or ""]
    return tuple(sorted({name for name in names if name}))


class CertificateRotator:
    """Loads the certificates of the Secret into `context`. The leader also writes the Secret."""

    def __init__(
        self, api: Client, settings: Settings, now: Callable[[], datetime], *, webhook: str = WEBHOOK_NAME
    ) -> None:
        self._api, self._settings, self._now = api, settings, now
        self._webhook = webhook
        self._life = timedelta(days=settings.certificate_days)
        self._names = server_names(settings)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        self._loaded: Certificates | Issued | None = None

    @property
    def loaded(self) -> bool:
        """True if the server has a certificate that has not expired."""
        return self._loaded is not None and self._loaded.server.certificate.not_valid_after_utc > self._now()

    @property
    def expiry(self) -> datetime | None:
        """The end of the loaded certificate; None before the first load."""
        return self._loaded.server.certificate.not_valid_after_utc if self._loaded else None

    @property
    def bundle(self) -> str:
        """All CAs that clients of the server have to trust, as PEM. Empty before the first load."""
        return self._loaded.bundle.decode() if self._loaded else ""

    async def keep(
        self, leading: Callable[[], bool], sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        """Refresh for ever. An unreachable API server or a full disk only logs a warning."""
        while True:
            try:
                await self.refresh(leading=leading())
            except (ApiError, OSError) as error:
                log.warning("the certificates could not be looked after: %s", error)
            # A certificate that is valid for minutes only, as in tests, is checked more often.
            await sleep(min(EVERY, self._life.total_seconds() / 20) if self.loaded else NOT_YET)

    async def refresh(self, *, leading: bool) -> None:
        """Read the Secret once, renew it if `leading`, and load it. Raises ApiError."""
        secret = await self._api.find(SECRETS, self._settings.namespace, SECRET_NAME)
        if not self._settings.own_certificates:
            issued = _read(secret, Issued)
            if issued is not None and issued != self._loaded:
                self._load(issued)
            return
        found = _read(secret, Certificates)
        if leading:
            found = await self._renew(secret, found)
            await self._announce(found)
        usable = found or self._of_another_writer(secret)
        if usable is not None and usable != self._loaded:
            self._load(usable)

    def _of_another_writer(self, secret: Mapping[str, Any] | None) -> Issued | None:
        """Return the certificate that cert-manager has left, for a pod that has none. Such a pod is ready, so a rollout
        that switches cert-manager off goes on until a pod leads that makes its own.
        """
        return None if self.loaded else _read(secret, Issued)

    async def _renew(self, secret: Mapping[str, Any] | None, found: Certificates | None) -> Certificates:
        # If the Secret was deleted or damaged, running pods still trust the CAs that this process has loaded.
        known = found or (self._loaded if isinstance(self._loaded, Certificates) else None)
        wanted = renewed(known, self._names, self._now(), self._life) or known
        assert wanted is not None
        if wanted != found:
            await self._write(secret, wanted)
            log.info("wrote the Secret %s: its certificate is valid until %s", SECRET_NAME, _end(wanted))
        return wanted

    async def _write(self, secret: Mapping[str, Any] | None, wanted: Certificates) -> None:
        namespace = self._settings.namespace
        if secret is None:
            made = {"metadata": {"name": SECRET_NAME, "namespace": namespace}, "type": "kubernetes.io/tls"}
            await self._api.create(SECRETS, namespace, _secret_with(made, wanted))
        else:
            # The body has the resourceVersion that was read: of two leaders in a hand-over, only one write succeeds.
            await self._api.replace(SECRETS, namespace, SECRET_NAME, _secret_with(secret, wanted))

    async def _announce(self, certificates: Certificates) -> None:
        """Set the webhook's `caBundle` before any pod serves with the new certificate."""
        if not self._settings.clusterwide:
            return
        webhook = await self._api.find(WEBHOOKS, None, self._webhook)
        operations = _bundle_operations(webhook or {}, base64.b64encode(certificates.bundle).decode())
        if operations:
            path = WEBHOOKS.path(name=self._webhook)
            await self._api.request("PATCH", path, body=operations, content_type=JSON_PATCH)

    def _load(self, certificates: Certificates | Issued) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "server.pem"
            file.touch(mode=0o600)
            file.write_bytes(certificates.server.key_pem + certificates.chain)
            self.context.load_cert_chain(file)
        self._loaded = certificates


def _read(secret: Mapping[str, Any] | None, kind: type[Kind]) -> Kind | None:
    if secret is None:
        return None
    try:
        return kind.read(secret.get("data") or {})
    except ValueError as error:
        log.warning("the Secret %s cannot be used: %s", SECRET_NAME, error)
        return None


def _secret_with(secret: Mapping[str, Any], certificates: Certificates) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Secret", **secret, "data": certificates.data}


def _bundle_operations(webhook: Mapping[str, Any], bundle: str) -> list[dict[str, str]]:
    """Return a JSON patch of the `caBundle` fields that differ. It leaves the fields of other writers unchanged."""
    operations = []
    for position, entry in enumerate(webhook.get("webhooks") or ()):
        if entry["clientConfig"].get("caBundle") != bundle:
            place = f"/webhooks/{position}"
            operations += [
                {"op": "test", "path": f"{place}/name", "value": entry["name"]},
                {"op": "add", "path": f"{place}/clientConfig/caBundle", "value": bundle},
            ]
    return operations


def _end(certificates: Certificates) -> str:
    return certificates.server.certificate.not_valid_after_utc.isoformat(timespec="seconds")
